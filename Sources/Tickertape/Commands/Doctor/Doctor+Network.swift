import Feeds
import Glibc
import HTTP
import Market
import NIOCore
import Platform
import TLS

/// The checks of the way to each service. They send no key, so Finnhub counts none of them as an attempt.
extension Doctor {
    /// The offset of the clock from which trades count as from the future, ns.
    private static let wrongClock = ArrivalCheck.tolerance
    /// The smallest offset of the clock that is worth a warning, ns, beyond the error of the measurement.
    private static let inexactClock: Int64 = 1_000_000_000
    /// How long before its end a certificate is worth a warning, s.
    private static let expiringSoon: Int64 = 7 * 86_400

    /// Returns the checks of all services, each in the order of the steps.
    func network(_ targets: [Target]) async -> [DoctorCheck] {
        await withTaskGroup(of: (Int, [DoctorCheck]).self) { group in
            for (index, target) in targets.enumerated() {
                group.addTask {
                    async let clock = self.clock(target)
                    let way = await self.way(to: target)
                    return (index, [await clock] + way)
                }
            }
            var all: [(Int, [DoctorCheck])] = []
            for await checks in group { all.append(checks) }
            return all.sorted { $0.0 < $1.0 }.flatMap(\.1)
        }
    }

    /// Returns the probe of an address. Each of its waits ends before its step does, so that the step's line has the
    /// reason of the wait.
    func probe(_ address: UpstreamAddress) throws(OperatorError) -> UpstreamProbe {
        let left = self.leftAmount.nanoseconds
        return UpstreamProbe(
            address,
            dial: try self.settings.dial(to: address).limited(to: .nanoseconds(max(1, left / 5 * 4))),
            limit: .nanoseconds(max(1, left / 10 * 9)),
            loop: self.loop,
            wallClock: WallClock.now
        )
    }

    private static let late = "did not end in time"
    private static let slowNetwork = "is the network up and fast enough?"

    private static func late(_ check: String, _ what: String) -> DoctorCheck {
        DoctorCheck(check, .failure, "\(what) \(self.late)", cure: self.slowNetwork)
    }

    private static func unreached(_ checks: [String]) -> [DoctorCheck] {
        checks.map { DoctorCheck($0, .note, "not reached") }
    }

    // MARK: Clock

    private func clock(_ target: Target) async -> DoctorCheck {
        if LoopbackHost.contains(target.upstream.host), !LoopbackHost.contains(target.service.host) {
            return DoctorCheck("clock", .note, "not compared: \(target.name)'s server is on this machine")
        }
        guard let probe = try? self.probe(target.service) else {
            return DoctorCheck("clock", .note, "not compared, since the proxy cannot be used")
        }
        let cure = "see the checks of the network; `timedatectl` shows whether NTP runs"
        guard let result = await self.step({ await probe.time() }) else {
            return DoctorCheck("clock", .warning, "not compared: the question \(Self.late)", cure: cure)
        }
        switch result {
        case .failure(let failure):
            return DoctorCheck("clock", .warning, "not compared: \(failure.reason)", cure: cure)
        case .success(let time):
            return Self.clock(time, of: target.service.host)
        }
    }

    /// Judges a measurement of the clock.
    static func clock(_ time: UpstreamProbe.ServerTime, of host: String) -> DoctorCheck {
        let size = time.ahead < 0 ? -time.ahead : time.ahead
        let surely = max(0, size - time.error)
        let direction = time.ahead < 0 ? "behind" : "ahead of"
        let words = "\(Self.tenths(size)) s \(direction) \(host), give or take \(Self.tenths(time.error)) s"
        let cure = "let NTP set the clock: `timedatectl set-ntp true`, or chrony"
        if surely > Self.wrongClock { return DoctorCheck("clock", .failure, words, cure: cure) }
        if surely > Self.inexactClock { return DoctorCheck("clock", .warning, words, cure: cure) }
        return DoctorCheck("clock", .ok, words)
    }

    private static func tenths(_ nanoseconds: Int64) -> String {
        let tenths = (nanoseconds + 50_000_000) / 100_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    // MARK: The way

    private func way(to target: Target) async -> [DoctorCheck] {
        let probe: UpstreamProbe
        do throws(OperatorError) {
            probe = try self.probe(target.upstream)
        } catch {
            let cure = "correct it, or set upstream.proxy to none"
            return Self.unreached(["dns", "tcp-ipv4", "tcp-ipv6"])
                + [DoctorCheck("proxy", .failure, error.message, cure: cure)] + Self.unreached(["tls"])
        }
        let begun = SystemClock.monotonic()
        guard let found = await self.step({ await probe.addresses() }) else {
            return [Self.late("dns", "the lookup of \(probe.host)")]
                + Self.unreached(["tcp-ipv4", "tcp-ipv6", "proxy", "tls"])
        }
        let addresses: [SocketAddress]
        switch found {
        case .failure(let failure):
            return [
                DoctorCheck(
                    "dns",
                    .failure,
                    failure.reason,
                    cure: "`resolvectl query \(probe.host)` or `getent hosts \(probe.host)` asks the same name server"
                )
            ] + Self.unreached(["tcp-ipv4", "tcp-ipv6", "proxy", "tls"])
        case .success(let all): addresses = all
        }
        let dns = Self.found(addresses, in: SystemClock.monotonic() - begun, probe, target)
        let proxy = (try? self.settings.proxy(for: target.upstream))?.origin
        let (tcp, isReached) = await self.connections(probe, addresses, proxy: proxy)
        guard isReached else { return [dns] + tcp + Self.unreached(["proxy", "tls"]) }
        return [dns] + tcp + (await self.secured(probe, addresses, target, proxy: proxy))
    }

    /// Returns the line about the addresses of the upstream, or of the proxy on the way to it.
    private static func found(
        _ addresses: [SocketAddress],
        in nanoseconds: Int64,
        _ probe: UpstreamProbe,
        _ target: Target
    ) -> DoctorCheck {
        let resolver = probe.proxy == nil ? "" : "; the proxy resolves \(target.upstream.host)"
        let all = addresses.compactMap(\.ipAddress)
        guard all != [probe.host] else {
            return DoctorCheck("dns", .ok, "\(Self.host(probe)) is an address and needs no lookup\(resolver)")
        }
        let count = SystemErrorText.count(addresses.count, "address", "addresses")
        let list = all.prefix(4).joined(separator: ", ")
        let words = "\(Self.host(probe)): \(count) in \(Self.words(nanoseconds)) (\(list))\(resolver)"
        return DoctorCheck("dns", .ok, words)
    }

    /// The host of the TCP connection, for people.
    private static func host(_ probe: UpstreamProbe) -> String {
        probe.proxy == nil ? probe.host : "the proxy \(probe.host)"
    }

    // MARK: TCP

    /// Returns a line for each IP version, and whether one of them works.
    ///
    /// - Parameter proxy: the setting or variable that names the proxy; `nil` for a direct connection.
    func connections(
        _ probe: UpstreamProbe,
        _ addresses: [SocketAddress],
        proxy: String?
    ) async -> (checks: [DoctorCheck], isReached: Bool) {
        async let ipv4 = self.step { await probe.connect(to: addresses, .ipv4) }
        async let ipv6 = self.step { await probe.connect(to: addresses, .ipv6) }
        let (four, six) = await (ipv4, ipv6)
        let works = { (result: Result<UpstreamProbe.Reached, UpstreamProbe.Failure>??) in
            if case .success?? = result { true } else { false }
        }
        let checks = [
            Self.tcp(.ipv4, four, probe, proxy: proxy, otherWorks: works(six)),
            Self.tcp(.ipv6, six, probe, proxy: proxy, otherWorks: works(four)),
        ]
        return (checks, works(four) || works(six))
    }

    private static func tcp(
        _ family: UpstreamProbe.Family,
        _ result: Result<UpstreamProbe.Reached, UpstreamProbe.Failure>??,
        _ probe: UpstreamProbe,
        proxy: String?,
        otherWorks: Bool
    ) -> DoctorCheck {
        let (check, name) = family == .ipv4 ? ("tcp-ipv4", "IPv4") : ("tcp-ipv6", "IPv6")
        switch result {
        case nil: return self.late(check, "the connection to \(probe.place)")
        case .some(nil): return DoctorCheck(check, .note, "\(Self.host(probe)) has no \(name) address")
        case .success(let reached)??:
            let place = probe.proxy == nil ? reached.address : "the proxy \(reached.address)"
            return DoctorCheck(check, .ok, "\(place) answers in \(self.words(reached.nanoseconds))")
        case .failure(let failure)??:
            return self.unconnected(
                check,
                name,
                failure,
                proxy: proxy,
                hasSockets: self.hasSockets(family),
                otherWorks: otherWorks
            )
        }
    }

    /// Judges a family that does not connect.
    ///
    /// - Parameter hasSockets: whether this process may have sockets of the family.
    static func unconnected(
        _ check: String,
        _ family: String,
        _ failure: UpstreamProbe.Failure,
        proxy: String?,
        hasSockets: Bool,
        otherWorks: Bool
    ) -> DoctorCheck {
        // Both fail at once in the kernel, and cost no time.
        let missing =
            hasSockets ? failure.isOfRoute ? "no route" : nil : "no sockets"
        if otherWorks {
            if let missing {
                return DoctorCheck(
                    check,
                    .note,
                    "this machine has \(missing) for \(family), and the other family works"
                )
            }
            let cure = "repair \(family): its route, a firewall, or the address in DNS; attempts may lose time with it"
            return DoctorCheck(check, .warning, "\(failure.reason); the other family works", cure: cure)
        }
        let cure =
            if !hasSockets {
                "allow AF_INET and AF_INET6 in RestrictAddressFamilies= of the unit, or give this machine \(family)"
            } else if let proxy {
                "does the proxy run, and is \(proxy) right?"
            } else {
                "is the address right, and does a firewall let connections out?"
            }
        return DoctorCheck(check, .failure, failure.reason, cure: cure)
    }

    /// Returns whether this process may have sockets of a family: the kernel may lack it, or a sandbox forbid it.
    private static func hasSockets(_ family: UpstreamProbe.Family) -> Bool {
        let domain = family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(domain, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno != EAFNOSUPPORT }
        close(descriptor)
        return true
    }

    // MARK: Proxy and TLS

    private func secured(
        _ probe: UpstreamProbe,
        _ addresses: [SocketAddress],
        _ target: Target,
        proxy origin: String?
    ) async -> [DoctorCheck] {
        let direct = DoctorCheck("proxy", .ok, "none is used")
        guard probe.isEncrypted else {
            return [direct, DoctorCheck("tls", .note, "none: \(target.upstream) is on this machine")]
        }
        guard let result = await self.step({ await probe.handshake(addresses) }) else {
            guard let proxy = probe.proxy else { return [direct, Self.late("tls", "the TLS handshake")] }
            return [
                DoctorCheck("proxy", .note, "\(proxy) was not judged in time"),
                Self.late("tls", "the tunnel of the proxy and the TLS handshake in it"),
            ]
        }
        let proxy = probe.proxy.map { proxy in
            let words = "\(proxy)\(origin.map { " (\($0))" } ?? "") opens a tunnel to \(target.upstream.authority)"
            return DoctorCheck("proxy", .ok, words)
        }
        switch result {
        case .failure(let failure) where failure.isOfProxy:
            let cure = Self.proxyCure(origin, host: target.upstream.host)
            return [DoctorCheck("proxy", .failure, failure.reason, cure: cure)] + Self.unreached(["tls"])
        case .failure(let failure):
            return [
                proxy ?? direct,
                DoctorCheck(
                    "tls",
                    .failure,
                    failure.reason,
                    cure:
                        "for a certificate correct the clock, tls.ca-file (--ca-file) or \(target.setting) "
                        + "(docs/tls.md); else does a firewall or a login page stand between?"
                ),
            ]
        case .success(let (session, nanoseconds)):
            return [proxy ?? direct, Self.tls(session, nanoseconds, now: WallClock.now() / 1_000_000_000)]
        }
    }

    /// Returns the cure of a proxy that opens no tunnel.
    ///
    /// - Parameter origin: the setting or variable that names the proxy. Only a variable's proxy has exceptions.
    private static func proxyCure(_ origin: String?, host: String) -> String {
        let origin = origin ?? Setting.upstreamProxy.key
        return origin == Setting.upstreamProxy.key
            ? "correct \(origin), or set it to none to connect without a proxy"
            : "correct \(origin), or add \(host) to NO_PROXY to connect without the proxy"
    }

    /// Judges a completed handshake.
    ///
    /// - Parameter now: seconds since 1970.
    static func tls(_ session: TLSSession, _ nanoseconds: Int64, now: Int64) -> DoctorCheck {
        let expiry = session.certificateExpiry.map { UTCText.date($0 * 1_000_000_000) }
        let words =
            "\(session.version) with \(session.cipher) after \(self.words(nanoseconds))"
            + (expiry.map { ", certificate valid until \($0)" } ?? "")
        guard session.isPeerVerified else {
            return DoctorCheck(
                "tls",
                .warning,
                "\(words); the chain is not checked",
                cure: "set tls.verify to true, and tls.ca-file for a private authority"
            )
        }
        if let end = session.certificateExpiry, end - now < self.expiringSoon {
            return DoctorCheck("tls", .warning, "\(words), chain good", cure: "the service must renew it before")
        }
        return DoctorCheck("tls", .ok, "\(words), chain good; closed before a request, so Finnhub counts no attempt")
    }
}
