package import NIOCore

/// A handler that writes complete frames, or complete lines, into the pipeline, or past it through a direct transport.
/// It knows nothing of their form. In a WebSocket it stands below the frame encoder.
///
/// All outbound bytes pass this handler, so it keeps their order. With a direct transport it holds frames until the
/// next flush, and then hands them to the transport if nothing waits in the channel. The rest goes through the channel,
/// as do the pipeline's own frames (pings, pongs, the close frame); then all frames do, until nothing waits there. A
/// fan-out may write past this handler (``allowBypass()``) until the handler interrupts it.
package final class FramedOutput: ChannelOutboundHandler {
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The most buffers in one call of the direct transport; the channel handles larger numbers better.
    static let maximumBuffers = 64

    private var context: ChannelHandlerContext?
    private var direct: (any DirectTransport)?
    /// The frames that were written since the last flush and not passed on.
    private var held: ByteBuffer?
    private var heldNext: [ByteBuffer] = []
    /// Whether bytes may wait in the channel. True at first, because the connection may have written before this
    /// handler was added.
    private var mayWait = true
    /// All bytes that were written to the channel, without those that bypassed it.
    private(set) var writtenBytes = 0
    /// Whether frames are allowed past this handler at the moment.
    private var allowsBypass = false

    package init() {}

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.interrupt()
        self.context = nil
        self.direct = nil
        self.held = nil
        self.heldNext = []
    }

    /// Uses the transport from now on, only while the channel is active and only on its loop.
    package func use(_ direct: any DirectTransport) { self.direct = direct }

    // MARK: Complete frames

    package func writeFrames(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
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

    /// Sends the written frames, and returns whether bytes wait in the channel.
    package func flushFrames() -> Bool {
        guard let context = self.context else { return false }
        self.flush(context: context)
        return self.waits
    }

    /// Whether bytes wait in the channel.
    var waits: Bool { self.mayWait && self.waitingBytes > 0 }

    /// The number of bytes that wait in the channel.
    package var waitingBytes: Int {
        guard self.mayWait, let options = self.context?.channel.syncOptions,
            let bytes = try? options.getOption(.bufferedWritableBytes)
        else { return 0 }
        // Without a direct transport, bytes may reach the channel without passing here.
        if bytes == 0, self.direct != nil { self.mayWait = false }
        return bytes
    }

    /// Returns how much of the written bytes the peer has taken.
    ///
    /// - Parameter below: the state of the layers below the channel's own queue.
    package func sendProgress(below: TransportProgress) -> SendProgress {
        let waiting = self.waitingBytes + below.waiting
        return SendProgress(
            left: below.taken ?? self.writtenBytes - waiting,
            waiting: waiting,
            isWatched: below.isWatched
        )
    }

    // MARK: Bypass

    /// Allows frames past this handler, straight to the direct transport's peer, until the transport is interrupted.
    /// Returns whether it is allowed.
    package func allowBypass() -> Bool {
        guard self.direct != nil, self.held == nil, let context, context.channel.isActive, !self.waits else {
            return false
        }
        self.allowsBypass = true
        return true
    }

    /// Forbids further frames past this handler: other bytes wait before them, or the connection has ended.
    package func interrupt() {
        guard self.allowsBypass else { return }
        self.allowsBypass = false
        self.direct?.interrupted()
    }

    /// Writes the rest of frames whose first bytes bypassed this handler; returns whether bytes wait in the channel.
    package func writeRest(of bytes: ByteBuffer, behind sent: Int) -> Bool {
        guard let context = self.context else { return false }
        self.pass(restOf: [bytes], behind: sent, context: context)
        return self.waits
    }

    // MARK: Outbound events

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.interrupt()
        self.release(context: context)
        self.mayWait = true
        self.writtenBytes += Self.unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    package func flush(context: ChannelHandlerContext) {
        guard let first = self.held else { return context.flush() }
        // An inactive channel may have closed its descriptor, whose number another connection may use now.
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

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        self.interrupt()
        if self.held != nil { self.flush(context: context) }
        context.close(mode: mode, promise: promise)
    }

    /// Writes the held frames to the channel.
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
