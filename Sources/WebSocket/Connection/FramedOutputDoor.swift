import NIOCore

/// A way into the pipeline below the frame encoder, for bytes that are frames already, and past it, where there is one.
///
/// All that goes out passes here, so here the order is kept. With a direct transport, frames are held until the next flush
/// and then handed to it, as long as nothing waits in the channel. What it does not take, and whatever the pipeline itself
/// writes (pings, pongs, the close frame), goes through the channel; then so does everything, until nothing waits there.
/// Who sends the same to many may go past it (``letPast()``) until it says otherwise.
final class FramedOutputDoor: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Most buffers that are handed to the direct transport at a time; the channel takes more of them better.
    static let maximumBuffers = 64

    private var context: ChannelHandlerContext?
    private var direct: (any DirectTransport)?
    /// The frames that were written since the last flush and that nobody below has seen.
    private var held: ByteBuffer?
    private var heldNext: [ByteBuffer] = []
    /// Whether something may wait in the channel. What the connection has written before this handler came may.
    private var mayWait = true
    /// All bytes that were handed to the channel; those that went past it are not among them.
    private(set) var writtenBytes = 0
    /// Whether somebody has been told that frames may go past this handler, and not yet that they may no longer.
    private var isLetPast = false

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.interrupt()
        self.context = nil
        self.direct = nil
        self.held = nil
        self.heldNext = []
    }

    /// Uses the transport from now on. It is asked only while the channel is active, and only on its loop.
    func use(_ direct: any DirectTransport) { self.direct = direct }

    // MARK: Frames that are whole

    func writeFrames(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard let context = self.context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard self.direct != nil, promise == nil else {
            self.release(context: context)
            self.pass(bytes, promise: promise, context: context)
            return
        }
        self.interrupt()
        if self.held == nil { self.held = bytes } else { self.heldNext.append(bytes) }
    }

    /// Sends what was written, and returns whether bytes are left that wait in the channel.
    func flushFrames() -> Bool {
        guard let context = self.context else { return false }
        self.flush(context: context)
        return self.waits
    }

    /// Whether bytes wait in the channel.
    var waits: Bool { self.mayWait && self.waitingBytes > 0 }

    /// The bytes that wait in the channel.
    var waitingBytes: Int {
        guard self.mayWait, let options = self.context?.channel.syncOptions,
            let bytes = try? options.getOption(.bufferedWritableBytes)
        else { return 0 }
        // Without a direct transport anything may come without being seen here.
        if bytes == 0, self.direct != nil { self.mayWait = false }
        return bytes
    }

    // MARK: Past this handler

    /// Whether frames may go to the direct transport's peer past this handler, until that is told of an interruption.
    func letPast() -> Bool {
        guard self.direct != nil, self.held == nil, let context, context.channel.isActive, !self.waits else {
            return false
        }
        self.isLetPast = true
        return true
    }

    /// The next bytes may not go past this handler: something stands before them, or nothing goes any more.
    func interrupt() {
        guard self.isLetPast else { return }
        self.isLetPast = false
        self.direct?.interrupted()
    }

    /// Passes on the rest of frames whose first bytes went past this handler.
    func writeRest(of bytes: ByteBuffer, behind sent: Int) -> Bool {
        guard let context = self.context else { return false }
        self.pass(restOf: [bytes], behind: sent, context: context)
        return self.waits
    }

    // MARK: The pipeline's way

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.interrupt()
        self.release(context: context)
        self.mayWait = true
        self.writtenBytes += Self.unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        guard let first = self.held else { return context.flush() }
        // A channel that is not active may have given its descriptor back, to be another connection's.
        guard let direct = self.direct, self.heldNext.count < Self.maximumBuffers, context.channel.isActive, !self.waits
        else {
            self.release(context: context)
            return context.flush()
        }
        self.held = nil
        guard self.heldNext.isEmpty else {
            let buffers = [first] + self.heldNext
            self.heldNext.removeAll(keepingCapacity: false)
            let sent = direct.send(buffers)
            return self.pass(restOf: buffers, behind: sent, context: context)
        }
        let sent = direct.send(first)
        guard sent < first.readableBytes else { return }
        self.pass(restOf: [first], behind: sent, context: context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        self.interrupt()
        if self.held != nil { self.flush(context: context) }
        context.close(mode: mode, promise: promise)
    }

    /// Hands the held frames to the channel.
    private func release(context: ChannelHandlerContext) {
        guard let first = self.held else { return }
        let next = self.heldNext
        self.held = nil
        self.heldNext = []
        self.pass(first, promise: nil, context: context)
        for bytes in next { self.pass(bytes, promise: nil, context: context) }
    }

    private func pass(restOf buffers: [ByteBuffer], behind sent: Int, context: ChannelHandlerContext) {
        var sent = sent
        var isPassed = false
        for var bytes in buffers {
            let taken = min(sent, bytes.readableBytes)
            sent -= taken
            bytes.moveReaderIndex(forwardBy: taken)
            guard bytes.readableBytes > 0 else { continue }
            self.pass(bytes, promise: nil, context: context)
            isPassed = true
        }
        if isPassed { context.flush() }
    }

    private func pass(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        self.interrupt()
        self.mayWait = true
        self.writtenBytes += bytes.readableBytes
        context.write(Self.wrapOutboundOut(bytes), promise: promise)
    }
}
