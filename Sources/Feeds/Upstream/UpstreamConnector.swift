import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Platform
import TLS
package import WebSocket
import Wire

/// The settings of a connection to a WebSocket service.
package struct ConnectorSettings: Sendable {
    var address: UpstreamAddress
    /// The request target. It may hold a key, so it is never logged.
    var target: String
    /// The token for a relay, if it requires one. It travels in a header and is never logged.
    var relayToken: Secret?
    var dial: DialSettings
    /// Called on the loop at the end of every TLS handshake, successful or not.
    var handshakeEnded: (@Sendable (UpstreamHandshake) -> Void)?
    package var webSocket: WebSocketSettings
    /// The venue whose own service it is, for the words about its refusals.
    var venue: Venue?
}

/// The way from an address to an open WebSocket: name, TCP, an optional proxy, TLS, upgrade, each with its limit.
///
/// One connector serves all connections, so that TLS sessions are resumed.
final class UpstreamConnector: Sendable {
    private let settings: ConnectorSettings
    private let resolver: NameResolver
    private let sockets: SocketPathConnector
    /// Nanoseconds since 1970; needed for a service that names the date until which to wait.
    private let wallClock: @Sendable () -> Int64
    /// `nil` without TLS, and after a refused certificate. The trust files are then read again, since a person may have
    /// corrected them.
    private let tls: NIOLockedValueBox<TLSContext?>

    /// - Throws: ``TLSError`` if the trust roots cannot be used.
    init(
        _ settings: ConnectorSettings,
        resolver: NameResolver = .system,
        sockets: SocketPathConnector = SocketPathConnector(),
        wallClock: @escaping @Sendable () -> Int64
    ) throws(TLSError) {
        self.settings = settings
        self.resolver = resolver
        self.sockets = sockets
        self.wallClock = wallClock
        self.tls = NIOLockedValueBox(settings.address.isEncrypted ? try TLSContext(client: settings.dial.tls) : nil)
    }

    /// Makes a connector that reads the trust files with its first connection, and not here.
    init(
        readingLater settings: ConnectorSettings,
        sockets: SocketPathConnector,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.settings = settings
        self.resolver = .system
        self.sockets = sockets
        self.wallClock = wallClock
        self.tls = NIOLockedValueBox(nil)
    }

    /// Reads the trust files of all connectors. If their disk hangs, only this queue hangs.
    private static let trustDisk = WorkQueue("trust")

    /// Returns the context for the next connection: the present one, unless its files have changed.
    ///
    /// The loop reads no file. If the disk does not answer within the limit of a handshake, the context that was read
    /// last is used; without one the future fails.
    func tlsContext(on loop: any EventLoop) -> EventLoopFuture<TLSContext?> {
        guard self.settings.address.isEncrypted else { return loop.makeSucceededFuture(nil) }
        let known = self.tls.withLockedValue { $0 }
        if let known, known.readNoFiles { return loop.makeSucceededFuture(known) }
        let promise = loop.makePromise(of: TLSContext?.self)
        let configuration = self.settings.dial.tls
        let limit = loop.assumeIsolated().scheduleTask(in: configuration.handshakeTimeout) {
            if let known { return promise.succeed(known) }
            let words = "the trusted certificates cannot be read: the disk does not answer (tls.ca-file, tls.crl-file)"
            promise.fail(UpstreamFailure(words, cause: .tls))
        }
        Self.trustDisk.perform(on: loop) { () -> Result<TLSContext, TLSError> in
            if let known, known.isCurrent { return .success(known) }
            return Result { () throws(TLSError) in try TLSContext(client: configuration) }
        } then: { result in
            limit.cancel()
            switch result {
            case .success(let context):
                self.tls.withLockedValue { $0 = context }
                promise.succeed(context)
            case .failure(let error): promise.fail(UpstreamFailure(error))
            }
        }
        return promise.futureResult
    }

    /// Opens one connection.
    ///
    /// - Parameters:
    ///   - reached: called on the loop when there is a channel. An error that it throws ends the attempt before
    ///     anything is sent.
    ///   - connected: called on the loop when the WebSocket is open, before any frame is delivered. `isRelay` says
    ///     whether the server identified itself as the relay of a program like this one.
    /// - Returns: a future that fails with ``UpstreamFailure``.
    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        let connected = NIOLoopBound(connected, eventLoop: loop)
        return self.open(on: loop, reached: reached) { channel in
            channel.upgradeToWebSocket(self.request, settings: self.settings.webSocket) { channel, answer in
                try connected.value(channel, answer.headers["Server"].contains(StreamHello.serverName))
            }
        }
    }

    /// Opens one connection up to the point where the first request can be sent, and then calls `then`.
    ///
    /// - Parameters:
    ///   - reached: called on the loop when there is a channel. An error that it throws ends the attempt.
    ///   - then: called on the loop. If its future fails, the channel is closed.
    /// - Returns: a future that fails with ``UpstreamFailure``.
    func open<Value: Sendable>(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        then: @escaping @Sendable (any Channel) -> EventLoopFuture<Value>
    ) -> EventLoopFuture<Value> {
        let route = Route(self.settings)
        let reached = NIOLoopBound(reached, eventLoop: loop)
        return self.tlsContext(on: loop).flatMap { tls in
            self.reach(route, on: loop).flatMap { channel in
                channel.eventLoop.makeCompletedFuture { try reached.value(channel) }.flatMap {
                    self.openTunnel(channel, route: route)
                }.flatMap {
                    self.secure(channel, with: tls, route: route)
                }.flatMap {
                    then(channel).flatMapErrorThrowing { error in
                        switch error {
                        case is WebSocketUpgradeError, is UpstreamFailure: throw error
                        default: throw self.through(UpstreamFailure(upgrading: error), route)
                        }
                    }
                }.flatMapErrorThrowing { error in
                    channel.close(promise: nil)
                    throw self.failure(error, route: route)
                }
            }
        }
    }

    /// Connects by TCP, without the steps that follow. The future fails with ``UpstreamFailure``.
    func reach(on loop: any EventLoop) -> EventLoopFuture<any Channel> { self.reach(Route(self.settings), on: loop) }

    /// Resolves the host and connects to the first address that answers.
    private func reach(_ route: Route, on loop: any EventLoop) -> EventLoopFuture<any Channel> {
        let tcpTimeout = self.settings.dial.tcpTimeout
        if let path = route.address.socketPath {
            return self.sockets.connect(to: path, within: tcpTimeout, on: loop)
                .flatMapErrorThrowing { error in
                    throw UpstreamFailure(connecting: error, on: route, addresses: [], within: tcpTimeout)
                }
        }
        return self.resolver.addresses(
            of: route.host,
            port: route.port,
            within: self.settings.dial.dnsTimeout,
            on: loop
        )
        .flatMapErrorThrowing { error in throw UpstreamFailure(naming: error, on: route) }
        .flatMap { addresses in
            // NIO's connector tries the addresses in turn; the limit is for all of them together.
            ClientBootstrap(group: loop)
                .connectTimeout(tcpTimeout)
                .resolver(KnownAddresses(addresses: addresses, loop: loop))
                .connect(host: route.host, port: route.port)
                .flatMapErrorThrowing { error in
                    throw UpstreamFailure(connecting: error, on: route, addresses: addresses, within: tcpTimeout)
                }
        }
    }

    private func openTunnel(_ channel: any Channel, route: Route) -> EventLoopFuture<Void> {
        guard let proxy = route.proxy else { return channel.eventLoop.makeSucceededVoidFuture() }
        let limit = self.settings.dial.upgradeTimeout
        var request = TunnelRequest(host: route.address.host, port: route.address.port)
        request.credentials = proxy.credentials.map { ($0.user, $0.password) }
        request.timeout = limit
        let now = self.wallClock()
        return channel.openTunnel(request).flatMapErrorThrowing { error in
            // A reset says no more than a close.
            guard let error = error as? WebSocketUpgradeError ?? (error is IOError ? .connectionClosed : nil) else {
                throw error
            }
            throw UpstreamFailure(tunnel: error, on: route, within: limit, now: now)
        }
    }

    private func secure(_ channel: any Channel, with tls: TLSContext?, route: Route) -> EventLoopFuture<Void> {
        guard let tls else { return channel.eventLoop.makeSucceededVoidFuture() }
        // A handshake on a closed channel would never end.
        guard channel.isActive else { return channel.eventLoop.makeFailedFuture(Self.closed) }
        let host = route.address.host
        let begun = channel.eventLoop.now
        let handler = TLSHandler(context: tls, peer: route.address.isIPAddress ? .address(host) : .host(host))
        let secured = channel.startTLS(handler)
        if let notify = self.settings.handshakeEnded {
            secured.assumeIsolated().whenComplete { result in
                let took = (channel.eventLoop.now - begun).nanoseconds
                switch result {
                case .success: if let session = handler.session { notify(.completed(session, nanoseconds: took)) }
                case .failure: notify(.failed)
                }
            }
        }
        // A close and a reset by the peer both count as a failed handshake.
        return secured.flatMapErrorThrowing { error in
            switch error {
            case is IOError: throw TLSError(kind: .handshakeInterrupted, reason: UpstreamFailure.words(of: error))
            case ChannelError.eof, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed: throw Self.closed
            default: throw error
            }
        }
    }

    private static let closed = TLSError(kind: .handshakeInterrupted, reason: "the connection was closed")

    private var request: WebSocketClientRequest {
        var request = WebSocketClientRequest(
            host: self.settings.address.authority,
            target: self.settings.target
        )
        request.timeout = self.settings.dial.upgradeTimeout
        if let token = self.settings.relayToken { request.headers.append(token.bearer) }
        return request
    }

    private func failure(_ error: any Error, route: Route) -> UpstreamFailure {
        if let error = error as? TLSError, error.kind == .certificateRefused {
            self.tls.withLockedValue { $0 = nil }
        }
        var failure: UpstreamFailure
        switch error {
        case let error as UpstreamFailure: return error
        case let error as WebSocketUpgradeError:
            failure = UpstreamFailure(
                upgrade: error,
                within: self.settings.dial.upgradeTimeout,
                now: self.wallClock(),
                venue: self.settings.venue
            )
        default: failure = UpstreamFailure(error)
        }
        return self.through(failure, route)
    }

    private func through(_ failure: UpstreamFailure, _ route: Route) -> UpstreamFailure {
        guard let proxy = route.proxy else { return failure }
        var failure = failure
        failure.description += " (through the proxy \(proxy))"
        return failure
    }
}

/// The route to an address: direct, or through a proxy.
struct Route: Sendable {
    let address: UpstreamAddress
    let proxy: ProxyServer?

    init(_ settings: ConnectorSettings) {
        self.address = settings.address
        // `ws` leads to this machine only, where no proxy is needed.
        self.proxy = settings.address.isEncrypted ? settings.dial.proxy : nil
    }

    /// The host of the TCP connection.
    var host: String { self.proxy?.host ?? self.address.host }
    var port: Int { self.proxy?.port ?? self.address.port }

    /// The end of the TCP connection, for people.
    var place: String {
        self.proxy.map { "the proxy \($0)" } ?? self.address.socketPath
            ?? "\(self.address.host) port \(self.address.port)"
    }

    /// The setting to check after a failure.
    var hint: String { self.proxy == nil ? "the upstream address" : "HTTPS_PROXY or upstream.proxy" }
}
