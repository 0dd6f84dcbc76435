import Glibc
import HTTP
import NIOConcurrencyHelpers
package import NIOCore
import NIOHTTP1
import NIOPosix
package import TLS
import WebSocket

/// The steps of the way to a service one by one, for a person who looks for a fault. No step sends a key or a token.
package struct UpstreamProbe: Sendable {
    /// An IP version.
    package enum Family: Sendable, CaseIterable {
        case ipv4
        case ipv6

        fileprivate func contains(_ address: SocketAddress) -> Bool {
            address.protocol == (self == .ipv4 ? .inet : .inet6)
        }
    }

    /// A connection that was opened and closed again.
    package struct Reached: Sendable {
        /// The IP address that answered; empty for a Unix socket.
        package var address: String
        /// How long it took, in nanoseconds.
        package var nanoseconds: Int64
    }

    /// A failed step.
    package struct Failure: Error, Sendable {
        /// The fault in one line, with its remedy if one is known.
        package var reason: String
        /// Whether the proxy failed, not the service.
        package var isOfProxy = false
        /// Whether this machine has no route to addresses of the family.
        package var isOfRoute = false

        fileprivate init(_ failure: UpstreamFailure) {
            self.reason = failure.description
            self.isOfProxy = failure.cause == .proxy
        }
    }

    /// What an HTTP answer says about the time.
    package struct ServerTime: Sendable, Equatable {
        /// How far this machine's clock is ahead of the server's, in nanoseconds; negative if it is behind.
        package var ahead: Int64
        /// The largest error of ``ahead``: half of the round trip, and half of the second to which the date is cut.
        package var error: Int64

        /// - Parameters:
        ///   - date: the `Date` of the answer, seconds since 1970.
        ///   - sent: when the request was sent, and `received` when the answer came; wall clock, ns since 1970.
        package init(date: Int64, sent: Int64, received: Int64) {
            let trip = max(0, received - sent)
            // The date was cut to a second, so that the middle of the second is the best guess.
            self.ahead = sent + trip / 2 - (date * 1_000_000_000 + 500_000_000)
            self.error = trip / 2 + 500_000_000
        }
    }

    private let address: UpstreamAddress
    private let dial: DialSettings
    private let limit: TimeAmount
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64

    /// - Parameters:
    ///   - limit: the longest time of a step, whatever `dial` allows.
    ///   - wallClock: returns ns since 1970.
    package init(
        _ address: UpstreamAddress,
        dial: DialSettings,
        limit: TimeAmount,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        var dial = dial
        dial.dnsTimeout = min(dial.dnsTimeout, limit)
        dial.tcpTimeout = min(dial.tcpTimeout, limit)
        dial.upgradeTimeout = min(dial.upgradeTimeout, limit)
        dial.tls.handshakeTimeout = min(dial.tls.handshakeTimeout, limit)
        self.address = address
        self.dial = dial
        self.limit = limit
        self.loop = loop
        self.wallClock = wallClock
    }

    private var settings: ConnectorSettings {
        ConnectorSettings(
            address: self.address,
            target: self.address.path,
            dial: self.dial,
            webSocket: WebSocketSettings(role: .client)
        )
    }

    private var route: Route { Route(self.settings) }

    /// The host whose name is resolved: the proxy's, if there is one.
    package var host: String { self.route.host }
    /// The end of the TCP connection, for people.
    package var place: String { self.route.place }
    /// Whether the service speaks TLS.
    package var isEncrypted: Bool { self.address.isEncrypted }
    /// The proxy on the way, for people; `nil` for a direct connection.
    package var proxy: String? { self.route.proxy.map { "\($0)" } }

    /// Returns the addresses of ``host``.
    package func addresses() async -> Result<[SocketAddress], Failure> {
        let route = self.route
        let resolving = NameResolver.system.addresses(
            of: route.host,
            port: route.port,
            within: self.dial.dnsTimeout,
            on: self.loop
        )
        do {
            return .success(try await resolving.get())
        } catch {
            return .failure(Failure(UpstreamFailure(naming: error, on: route)))
        }
    }

    /// Connects by TCP to the first address of a family that answers, and closes the connection.
    ///
    /// - Returns: `nil` if there is no address of the family.
    package func connect(to all: [SocketAddress], _ family: Family) async -> Result<Reached, Failure>? {
        let (route, addresses) = (self.route, all.filter(family.contains))
        guard !addresses.isEmpty else { return nil }
        let begun = NIODeadline.now()
        do {
            let channel = try await ClientBootstrap(group: self.loop)
                .connectTimeout(self.dial.tcpTimeout)
                .resolver(KnownAddresses(addresses: addresses, loop: self.loop))
                .connect(host: route.host, port: route.port)
                .get()
            let took = (NIODeadline.now() - begun).nanoseconds
            let address = channel.remoteAddress?.ipAddress ?? ""
            channel.close(promise: nil)
            return .success(Reached(address: address, nanoseconds: took))
        } catch {
            var failure = Failure(
                UpstreamFailure(connecting: error, on: route, addresses: addresses, within: self.dial.tcpTimeout)
            )
            let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
            failure.isOfRoute = errors.allSatisfy { error in
                (error as? IOError).map { [ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL].contains($0.errnoCode) } ?? false
            }
            return .failure(failure)
        }
    }

    /// Opens a connection up to the end of the TLS handshake, and closes it before any request.
    ///
    /// - Parameter addresses: those that ``addresses()`` has found.
    /// - Returns: the session and how long the handshake took, in nanoseconds.
    package func handshake(
        _ addresses: [SocketAddress]
    ) async -> Result<(session: TLSSession, nanoseconds: Int64), Failure> {
        precondition(self.isEncrypted, "the service speaks no TLS")
        let ended = NIOLockedValueBox<(session: TLSSession, nanoseconds: Int64)?>(nil)
        var settings = self.settings
        settings.handshakeEnded = { handshake in
            guard case .completed(let session, let nanoseconds) = handshake else { return }
            ended.withLockedValue { $0 = (session, nanoseconds) }
        }
        let resolver = addresses.isEmpty ? NameResolver.system : NameResolver { _, _ throws(NameFailure) in addresses }
        do {
            let connector = try UpstreamConnector(settings, resolver: resolver, wallClock: self.wallClock)
            try await self.loop.flatSubmit { [loop] in
                connector.open(on: loop, reached: { _ in }) { channel in channel.close().recover { _ in } }
            }.get()
            guard let session = ended.withLockedValue({ $0 }) else { preconditionFailure("TLS without a session") }
            return .success(session)
        } catch let error as TLSError {
            return .failure(Failure(UpstreamFailure(error)))
        } catch {
            return .failure(Failure(error as? UpstreamFailure ?? UpstreamFailure(error)))
        }
    }

    /// Asks an HTTP service for its time with `HEAD /`.
    ///
    /// The certificate is not checked, since a wrong clock would be the reason to refuse it, and the request holds no
    /// secret.
    package func time() async -> Result<ServerTime, Failure> {
        var settings = self.settings
        settings.dial.tls.verification = .disabled
        settings.dial.tls.revocationListFile = nil
        settings.dial.tls.pins = []
        settings.dial.tls.stapling = .ignored
        var head = HTTPRequestHead(version: .http1_1, method: .HEAD, uri: "/")
        head.headers = ["Host": self.address.authority, "User-Agent": "tickertape", "Connection": "close"]
        let exchange = OutgoingExchange(head, timeout: self.limit, maximumBytes: 64 << 10, takesPartialBody: true)
        let sent = NIOLockedValueBox<Int64>(0)
        do {
            let connector = try UpstreamConnector(settings, wallClock: self.wallClock)
            let wallClock = self.wallClock
            let outcome = try await exchange.run(on: self.loop) { loop, reached, ready in
                connector.open(on: loop, reached: reached) { channel in
                    sent.withLockedValue { $0 = wallClock() }
                    return ready(channel)
                }
            }.get()
            let received = self.wallClock()
            switch outcome {
            case .failure:
                return .failure(Failure(UpstreamFailure("\(self.address.authority) gave no HTTP answer")))
            case .success(let answer):
                guard let text = answer.head.headers.first(name: "Date"),
                    let date = HTTPDate.parse(text, now: received / 1_000_000_000)
                else { return .failure(Failure(UpstreamFailure("\(self.address.authority) answers without a Date"))) }
                return .success(ServerTime(date: date, sent: sent.withLockedValue { $0 }, received: received))
            }
        } catch let error as TLSError {
            return .failure(Failure(UpstreamFailure(error)))
        } catch {
            return .failure(Failure(error as? UpstreamFailure ?? UpstreamFailure(error)))
        }
    }
}
