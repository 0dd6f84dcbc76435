import NIOCore
import NIOHTTP1
import NIOPosix
import NIOTLS
import Synchronization
import TLS
import WebSocket

/// What a connection to a WebSocket service needs to be told.
struct ConnectorSettings: Sendable {
    var address: UpstreamAddress
    /// The request target; may carry a key, so it is never logged.
    var target: String
    /// Used for `wss` only.
    var tls: TLSClientConfiguration
    /// The limit for name resolution and TCP together.
    var connectTimeout: TimeAmount
    var upgradeTimeout: TimeAmount
    var webSocket: WebSocketSettings
}

/// The way from an address to an open WebSocket: name, TCP, TLS, upgrade, each with its limit.
///
/// Made once for all connections, so that TLS sessions are resumed.
final class UpstreamConnector: Sendable {
    private let settings: ConnectorSettings
    /// Nothing where there is no TLS, and after a refused certificate: then the trust is read anew, which a person may
    /// have mended meanwhile.
    private let tls: Mutex<TLSContext?>

    /// - Throws: ``TLSError`` when the trust roots cannot be used.
    init(_ settings: ConnectorSettings) throws(TLSError) {
        self.settings = settings
        self.tls = Mutex(settings.address.isEncrypted ? try TLSContext(client: settings.tls) : nil)
    }

    private func tlsContext() throws(TLSError) -> TLSContext? {
        guard self.settings.address.isEncrypted else { return nil }
        if let known = self.tls.withLock({ $0 }), known.isCurrent { return known }
        let context = try TLSContext(client: self.settings.tls)
        self.tls.withLock { $0 = context }
        return context
    }

    /// Opens one connection.
    ///
    /// - Parameters:
    ///   - reached: is called on the loop when there is a channel; what it throws ends the attempt before anything is
    ///     sent.
    ///   - connected: is called on the loop when the WebSocket is open, before any frame is delivered.
    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel) throws -> Void
    ) -> EventLoopFuture<Void> {
        let address = self.settings.address
        let tls: TLSContext?
        do throws(TLSError) {
            tls = try self.tlsContext()
        } catch {
            return loop.makeFailedFuture(error)
        }
        let reached = NIOLoopBound(reached, eventLoop: loop)
        let connected = NIOLoopBound(connected, eventLoop: loop)
        return ClientBootstrap(group: loop)
            .connectTimeout(self.settings.connectTimeout)
            .channelInitializer { channel in
                // Called for every address that is raced; only the winner's handlers are asked for below.
                channel.eventLoop.makeCompletedFuture {
                    guard let tls else { return }
                    let peer: TLSPeerName = address.isIPAddress ? .address(address.host) : .host(address.host)
                    try channel.pipeline.syncOperations.addHandler(TLSHandler(context: tls, peer: peer))
                    try channel.pipeline.syncOperations.addHandler(TLSReadiness(on: channel.eventLoop))
                }
            }
            .connect(host: address.host, port: address.port)
            .flatMapErrorThrowing { error in throw UpstreamFailure(connecting: error, to: address) }
            .flatMap { channel in
                channel.eventLoop.makeCompletedFuture { try reached.value(channel) }.flatMap {
                    self.secured(channel)
                }.flatMap {
                    channel.upgradeToWebSocket(self.request, settings: self.settings.webSocket) { channel, _ in
                        try connected.value(channel)
                    }
                }.flatMapErrorThrowing { error in
                    channel.close(promise: nil)
                    if let error = error as? TLSError, error.kind == .certificateRefused {
                        self.tls.withLock { $0 = nil }
                    }
                    throw error
                }
            }
    }

    private func secured(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard self.settings.address.isEncrypted else { return channel.eventLoop.makeSucceededVoidFuture() }
        do {
            return try channel.pipeline.syncOperations.handler(type: TLSReadiness.self).secured.futureResult
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    private var request: WebSocketClientRequest {
        var request = WebSocketClientRequest(
            host: self.settings.address.authority,
            target: self.settings.target
        )
        request.timeout = self.settings.upgradeTimeout
        return request
    }
}

/// The waiter behind ``TLSHandler``: completes a promise when the handshake is over, then leaves.
final class TLSReadiness: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    let secured: EventLoopPromise<Void>

    init(on loop: any EventLoop) {
        self.secured = loop.makePromise()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            self.secured.succeed(())
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.secured.fail(error)
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.secured.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.secured.fail(ChannelError.eof)
    }
}
