package import NIOCore
import NIOTLS

extension Channel {
    /// Puts a TLS handler at the end of the pipeline, and waits for its handshake. On the channel's loop.
    package func startTLS(_ handler: TLSHandler) -> EventLoopFuture<Void> {
        let readiness = TLSReadiness(on: self.eventLoop)
        do {
            // The handshake starts as the handler is added, and may fail there and then.
            try self.pipeline.syncOperations.addHandler(readiness)
            try self.pipeline.syncOperations.addHandler(handler, position: .before(readiness))
        } catch {
            readiness.secured.fail(error)
        }
        return readiness.secured.futureResult
    }
}

/// The waiter behind ``TLSHandler``: completes a promise when the handshake is over, then leaves.
private final class TLSReadiness: ChannelInboundHandler, RemovableChannelHandler {
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
