package import NIOCore
import NIOTLS

extension Channel {
    /// Adds a TLS handler at the end of the pipeline; the future completes with its handshake. Must be called on the
    /// channel's loop.
    package func startTLS(_ handler: TLSHandler) -> EventLoopFuture<Void> {
        let readiness = TLSReadiness(on: self.eventLoop)
        do {
            // Adding the handler starts the handshake, which may fail at once.
            try self.pipeline.syncOperations.addHandler(readiness)
            try self.pipeline.syncOperations.addHandler(handler, position: .before(readiness))
        } catch {
            readiness.secured.fail(error)
        }
        return readiness.secured.futureResult
    }
}

/// A handler behind ``TLSHandler`` that completes a promise when the handshake ends, and then removes itself.
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
