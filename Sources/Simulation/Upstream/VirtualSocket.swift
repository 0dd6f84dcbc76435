import Glibc
package import NIOCore

/// One end of a connection without a socket. It passes on what is written, one flush at a time.
package final class VirtualSocket: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// Takes the written bytes of one flush.
    package var sent: (ByteBuffer) -> Void = { _ in }
    /// Called when this end was closed, and when only its sending side was.
    package var ended: () -> Void = {}
    package var endedSending: () -> Void = {}
    private var pending = ByteBuffer()
    private var context: ChannelHandlerContext?

    package init() {}

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        // Both closures refer to the other end, which refers back to this one.
        self.sent = { _ in }
        self.ended = {}
        self.endedSending = {}
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.pending.writeImmutableBuffer(Self.unwrapOutboundIn(data))
        promise?.succeed(())
    }

    package func flush(context: ChannelHandlerContext) {
        guard self.pending.readableBytes > 0 else { return }
        let bytes = self.pending
        self.pending = ByteBuffer()
        self.sent(bytes)
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // Only the sending side ends, as on a socket; an embedded channel would close entirely.
        if case .output = mode {
            self.endedSending()
            promise?.succeed(())
        } else {
            self.ended()
            context.close(mode: mode, promise: promise)
        }
    }

    /// Delivers bytes as one read.
    package func deliver(_ bytes: ByteBuffer) {
        guard let context, context.channel.isActive else { return }
        context.fireChannelRead(Self.wrapInboundOut(bytes))
        context.fireChannelReadComplete()
    }

    /// Closes this end because the other one was closed, with a FIN or with a RST.
    package func end(isReset: Bool = false) {
        guard let context, context.channel.isActive else { return }
        if isReset { context.fireErrorCaught(IOError(errnoCode: ECONNRESET, reason: "read")) }
        context.close(promise: nil)
    }
}
