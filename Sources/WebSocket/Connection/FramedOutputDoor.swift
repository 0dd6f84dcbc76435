import NIOCore

/// A way into the pipeline below the frame encoder, for bytes that are frames already.
///
/// It does nothing by itself; it only holds the place from which such bytes go on towards the socket.
final class FramedOutputDoor: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func writeFrames(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard let context = self.context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(Self.wrapOutboundOut(bytes), promise: promise)
    }
}
