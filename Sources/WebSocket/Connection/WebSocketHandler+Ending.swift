import NIOCore
import NIOWebSocket

// The deadlines and the end of a connection: carries out the actions of the keepalive and the closing machine.
extension WebSocketHandler {
    // MARK: Deadlines

    func arm(context: ChannelHandlerContext) {
        self.timer.arm(for: [self.keepalive.deadline, self.closing.deadline], on: context.eventLoop) {
            self.timeReached(context: context)
        }
    }

    /// How much of the written bytes the peer has taken.
    var sendProgress: SendProgress {
        self.framedOutput.sendProgress(below: self.below?() ?? TransportProgress(waiting: 0))
    }

    private func timeReached(context: ChannelHandlerContext) {
        self.timer.fired()
        let now = context.eventLoop.now
        let sendProgress = self.sendProgress
        switch self.keepalive.timeReached(now, sendProgress: sendProgress) {
        case .wait:
            break
        case .sendPing:
            self.write(.ping, ByteBuffer(), context: context, promise: nil)
            context.flush()
            context.fireUserInboundEventTriggered(WebSocketEvent.pingSent)
        case .end:
            self.perform(self.closing.pongMissed(), context: context)
        }
        self.perform(self.closing.timeReached(now, sendProgress: sendProgress), context: context)
        self.arm(context: context)
    }

    // MARK: End

    func fail(_ violation: WebSocketViolation, context: ChannelHandlerContext) {
        self.perform(self.closing.failed(violation, now: context.eventLoop.now), context: context)
    }

    /// Carries out an action of the closing machine: send, report, end the transport, in this order.
    func perform(
        _ action: ClosingMachine.Action,
        context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>? = nil
    ) {
        if !self.closing.isOpen {
            self.keepalive.stop()
            self.unansweredPing = nil
        }
        var written: EventLoopFuture<Void>?
        switch action.send {
        case .nothing:
            break
        case .closeFrame(let code, let reason):
            let payload = CloseFrame(code: code, reason: reason).encoded(allocator: context.channel.allocator)
            let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
            written = promise.futureResult
            self.write(.connectionClose, payload, context: context, promise: promise)
            context.flush()
        }
        // After the close frame, so that an application that closes the channel on this event does not cut the frame
        // off. Before the end of the transport, so that the event precedes `channelInactive`.
        if let closure = action.report {
            context.fireUserInboundEventTriggered(WebSocketEvent.closed(closure))
        }
        self.end(action.transport, after: written ?? context.eventLoop.makeSucceededVoidFuture(), context: context)
        if context.channel.isActive { self.arm(context: context) }
    }

    private func end(
        _ transport: ClosingMachine.Action.Transport,
        after written: EventLoopFuture<Void>,
        context: ChannelHandlerContext
    ) {
        switch transport {
        case .keep:
            break
        case .close:
            context.close(promise: nil)
        case .closeWhenWritten:
            written.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        case .closeOutput:
            written.assumeIsolated().whenComplete { _ in
                let halfClosed = context.eventLoop.makePromise(of: Void.self)
                halfClosed.futureResult.assumeIsolated().whenFailure { _ in context.close(promise: nil) }
                context.close(mode: .output, promise: halfClosed)
            }
        }
    }
}
