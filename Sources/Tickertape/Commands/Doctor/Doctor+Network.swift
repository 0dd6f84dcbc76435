import Feeds
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

    private func probe(_ address: UpstreamAddress) throws(OperatorError) -> UpstreamProbe {
        UpstreamProbe(
            address,
            dial: try self.settings.dial(to: address),
            limit: self.leftAmount,
            loop: self.loop,
            wallClock: WallClock.now
        )
    }

    private static func late(_ check: String, _ what: String) -> DoctorCheck {
        DoctorCheck(check, .failure, "\(what) did not end in time", cure: "is the network up and fast enough?")
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
        guard let result = await self.step({ await probe.time() }) else {
            return Self.late("clock", "the question for the time")
        }
        switch result {
        case .failure(let failure):
            return DoctorCheck(
                "clock",
                .warning,
                "not compared: \(failure.reason)",
                cure: "see the checks of the network; `timedatectl` shows whether NTP runs"
            )
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
            return [DoctorCheck("proxy", .failure, error.message, cure: "correct it, or set upstream.proxy to none")]
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
        let list = addresses.compactMap(\.ipAddress).prefix(4).joined(separator: ", ")
        let took = Self.words(SystemClock.monotonic() - begun)
        let count = SystemErrorText.count(addresses.count, "address", "addresses")
        var checks = [DoctorCheck("dns", .ok, "\(probe.host): \(count) in \(took) (\(list))")]
        async let ipv4 = self.step { await probe.connect(to: addresses, .ipv4) }
        async let ipv6 = self.step { await probe.connect(to: addresses, .ipv6) }
        let (four, six) = await (ipv4, ipv6)
        let works = { (result: Result<UpstreamProbe.Reached, UpstreamProbe.Failure>??) in
            if case .success?? = result { true } else { false }
        }
        checks.append(Self.tcp("tcp-ipv4", "IPv4", four, probe, otherWorks: works(six)))
        checks.append(Self.tcp("tcp-ipv6", "IPv6", six, probe, otherWorks: works(four)))
        guard works(four) || works(six) else { return checks + Self.unreached(["proxy", "tls"]) }
        checks += await self.secured(probe, addresses, target)
        return checks
    }

    private static func tcp(
        _ check: String,
        _ family: String,
        _ result: Result<UpstreamProbe.Reached, UpstreamProbe.Failure>??,
        _ probe: UpstreamProbe,
        otherWorks: Bool
    ) -> DoctorCheck {
        switch result {
        case nil: return self.late(check, "the connection to \(probe.place)")
        case .some(nil): return DoctorCheck(check, .note, "\(probe.host) has no \(family) address")
        case .success(let reached)??:
            return DoctorCheck(check, .ok, "\(reached.address) answers after \(self.words(reached.nanoseconds))")
        case .failure(let failure)??:
            guard otherWorks else {
                return DoctorCheck(
                    check,
                    .failure,
                    failure.reason,
                    cure: "is the address right, and does a firewall let connections out?"
                )
            }
            // Without a route the kernel refuses at once, which costs no time.
            return failure.isOfRoute
                ? DoctorCheck(check, .note, "this machine has no route for \(family), and the other family works")
                : DoctorCheck(
                    check,
                    .warning,
                    "\(failure.reason); the other family works",
                    cure: "repair \(family), or remove its route: each attempt loses time with it"
                )
        }
    }

    private func secured(_ probe: UpstreamProbe, _ addresses: [SocketAddress], _ target: Target) async -> [DoctorCheck]
    {
        let direct = DoctorCheck("proxy", .ok, "none is used")
        guard probe.isEncrypted else {
            return [direct, DoctorCheck("tls", .note, "none: \(target.upstream) is on this machine")]
        }
        guard let result = await self.step({ await probe.handshake(addresses) }) else {
            return [probe.proxy == nil ? direct : nil, Self.late("tls", "the TLS handshake")].compactMap(\.self)
        }
        let proxy = probe.proxy.map {
            DoctorCheck("proxy", .ok, "\($0) opens a tunnel to \(target.upstream.authority)")
        }
        switch result {
        case .failure(let failure) where failure.isOfProxy:
            return [
                DoctorCheck("proxy", .failure, failure.reason, cure: "check HTTPS_PROXY, NO_PROXY or upstream.proxy")
            ] + Self.unreached(["tls"])
        case .failure(let failure):
            return [
                proxy ?? direct,
                DoctorCheck(
                    "tls",
                    .failure,
                    failure.reason,
                    cure:
                        "set the clock if it is wrong; tls.ca-file (--ca-file) for a private authority; \(target.setting) "
                        + "for the name (docs/tls.md)"
                ),
            ]
        case .success(let (session, nanoseconds)):
            return [proxy ?? direct, Self.tls(session, nanoseconds, now: WallClock.now() / 1_000_000_000)]
        }
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
