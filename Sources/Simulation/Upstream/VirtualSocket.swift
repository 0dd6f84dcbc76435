import Glibc
import NIOCore

/// One end of a connection that has no socket: what is flushed here is handed on, a flush at a time.
final class VirtualSocket: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Takes what was written, a flush at a time.
    var sent: (ByteBuffer) -> Void = { _ in }
    /// Notes that this end was closed, and that it ended its sending side alone.
    var ended: () -> Void = {}
    var endedSending: () -> Void = {}
    private var pending = ByteBuffer()
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        // Both lead to the other end, which leads back here.
        self.sent = { _ in }
        self.ended = {}
        self.endedSending = {}
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.pending.writeImmutableBuffer(Self.unwrapOutboundIn(data))
        promise?.succeed(())
    }

    func flush(context: ChannelHandlerContext) {
        guard self.pending.readableBytes > 0 else { return }
        let bytes = self.pending
        self.pending = ByteBuffer()
        self.sent(bytes)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // The sending side alone ends as on a socket; an embedded channel would end all of it.
        if case .output = mode {
            self.endedSending()
            promise?.succeed(())
        } else {
            self.ended()
            context.close(mode: mode, promise: promise)
        }
    }

    /// One read.
    func deliver(_ bytes: ByteBuffer) {
        guard let context, context.channel.isActive else { return }
        context.fireChannelRead(Self.wrapInboundOut(bytes))
        context.fireChannelReadComplete()
    }

    /// The other end was closed, with a FIN or with a RST.
    func end(isReset: Bool = false) {
        guard let context, context.channel.isActive else { return }
        if isReset { context.fireErrorCaught(IOError(errnoCode: ECONNRESET, reason: "read")) }
        context.close(promise: nil)
    }
}
