import NIOCore
import NIOPosix
import NIOTLS
import TLS
import TickertapeTesting

/// An application on a real socket that completes futures with what it receives.
final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The result of a connection.
    struct Outcome: Sendable {
        var received: String
        var errors: [TLSError]
        var sawShutdown: Bool
    }

    let handshake: EventLoopPromise<TLSSession>
    let line: EventLoopPromise<String>
    let ended: EventLoopPromise<Outcome>
    private var outcome = Outcome(received: "", errors: [], sawShutdown: false)
    /// Whether each line is echoed.
    private let isEcho: Bool
    private let handler: TLSHandler

    init(above handler: TLSHandler, on loop: any EventLoop, isEcho: Bool) {
        self.handler = handler
        self.handshake = loop.makePromise()
        self.line = loop.makePromise()
        self.ended = loop.makePromise()
        self.isEcho = isEcho
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        self.outcome.received += String(buffer: buffer)
        if self.outcome.received.contains("\n") { self.line.succeed(self.outcome.received) }
        if self.isEcho { context.writeAndFlush(data, promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            if let session = self.handler.session { self.handshake.succeed(session) }
        case TLSUserEvent.shutdownCompleted: self.outcome.sawShutdown = true
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? TLSError { self.outcome.errors.append(error) }
        self.handshake.fail(error)
        self.line.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.handshake.fail(ChannelError.eof)
        self.line.fail(ChannelError.eof)
        self.ended.succeed(self.outcome)
        context.fireChannelInactive()
    }
}

/// The view of one connection from outside of its loop.
struct LoopbackEnd: Sendable {
    let channel: any Channel
    let handshake: EventLoopFuture<TLSSession>
    let line: EventLoopFuture<String>
    let ended: EventLoopFuture<Collector.Outcome>

    /// Adds TLS and a collector to a channel.
    static func make(
        _ channel: any Channel,
        context: TLSContext,
        peer: TLSPeerName?,
        isEcho: Bool = false
    ) throws -> LoopbackEnd {
        let handler = TLSHandler(context: context, peer: peer)
        let collector = Collector(above: handler, on: channel.eventLoop, isEcho: isEcho)
        let end = LoopbackEnd(
            channel: channel,
            handshake: collector.handshake.futureResult,
            line: collector.line.futureResult,
            ended: collector.ended.futureResult
        )
        // Bounds the time of every test.
        let late = channel.eventLoop.scheduleTask(in: .seconds(20) * Patience.factor) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in late.cancel() }
        try channel.pipeline.syncOperations.addHandlers([handler, collector])
        return end
    }

    /// Connects a client.
    static func connect(port: Int, context: TLSContext, peer: TLSPeerName) throws -> LoopbackEnd {
        let made = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: LoopbackEnd.self)
        _ = try ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    made.succeed(try LoopbackEnd.make(channel, context: context, peer: peer))
                }
            }
            .connectTimeout(.seconds(5) * Patience.factor)
            .connect(host: "127.0.0.1", port: port)
            .wait()
        return try made.futureResult.wait()
    }

    /// Listens on a free port; returns the server and its first connection.
    static func listen(
        context: TLSContext,
        isEcho: Bool = true
    ) throws -> (server: any Channel, first: EventLoopFuture<LoopbackEnd>) {
        let first = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: LoopbackEnd.self)
        let server = try ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    first.succeed(try LoopbackEnd.make(channel, context: context, peer: nil, isEcho: isEcho))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .wait()
        server.closeFuture.whenComplete { _ in first.fail(ChannelError.eof) }
        return (server, first.futureResult)
    }
}
