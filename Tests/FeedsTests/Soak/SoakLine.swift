import Glibc
import NIOCore
import NIOEmbedded

/// The network's end in a client's pipeline: what the client writes goes to the service, and the way back.
final class SoakLine: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Takes what the client wrote, a flush at a time; and that it ended its side.
    var wrote: (ByteBuffer) -> Void = { _ in }
    var ended: () -> Void = {}
    private var pending = ByteBuffer()
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.wrote = { _ in }
        self.ended = {}
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = Self.unwrapOutboundIn(data)
        self.pending.writeBuffer(&bytes)
        promise?.succeed(())
    }

    func flush(context: ChannelHandlerContext) {
        guard self.pending.readableBytes > 0 else { return }
        let bytes = self.pending
        self.pending = ByteBuffer()
        self.wrote(bytes)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        self.ended()
        // The sending side alone ends as on a socket; an embedded channel would end all of it.
        if case .output = mode { promise?.succeed(()) } else { context.close(mode: mode, promise: promise) }
    }

    /// One read of the client's socket.
    func deliver(_ bytes: ByteBuffer) {
        guard let context, context.channel.isActive else { return }
        context.fireChannelRead(Self.wrapInboundOut(bytes))
        context.fireChannelReadComplete()
    }

    /// The service's end of the connection, with a FIN or with a RST.
    func end(isReset: Bool) {
        guard let context, context.channel.isActive else { return }
        if isReset { context.fireErrorCaught(IOError(errnoCode: ECONNRESET, reason: "read")) }
        context.close(promise: nil)
    }
}
