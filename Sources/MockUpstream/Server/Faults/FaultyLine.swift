import Glibc
package import NIOCore

/// The first handler after a mock server's socket: the line to one client, with its possible failures.
///
/// It is below TLS, so a drop here is an end without a closing of TLS or WebSocket. Used on its loop only.
package final class FaultyLine: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// Above this many bytes on the line there is no buffer space, and a writer without a bound has to wait.
    private static let roomyBytes = 64 << 10
    /// Above this many bytes on the line the client is dropped. This bounds the answers that a client can cause.
    private static let maximumBytes = 32 << 20
    /// The cost of a write besides its bytes: a million empty pongs are not free.
    private static let batchBytes = 64
    /// How long a dropped connection waits for the peer to close it.
    private static let dropLimit: TimeAmount = .seconds(5)
    /// How long a peer that gets no more answers may keep its socket.
    private static let silenceLimit: TimeAmount = .minutes(10)

    private enum State {
        case open
        /// Nothing is sent any more. Input is read and discarded, so that the peer's end is noticed.
        case silent
        /// Nothing is sent or read any more, not even an end.
        case gone
        case ended
    }

    /// A write or an end that waits for its time.
    private enum EncodedBatch {
        case bytes(ByteBuffer, EventLoopPromise<Void>?)
        case close(CloseMode, EventLoopPromise<Void>?)
        /// The end of a dropped connection.
        case fin
    }

    private var state = State.open
    private var pacer: LinePacer
    private var queuedBatches: CircularBuffer<(arrival: Int64, encodedBatch: EncodedBatch)> = []
    /// The next piece of the first queued batch, and the time of its delivery.
    private var piece: (bytes: Int, due: Int64)?
    private var bytesOnTheWay = 0
    private var timer: Scheduled<Void>?
    private var limit: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    init(_ faults: ConnectionFaults) {
        self.pacer = LinePacer(
            bytesPerSecond: faults.initialRate,
            latency: faults.latency,
            jitter: faults.jitter,
            seed: faults.lineSeed
        )
    }

    /// Whether a writer without a bound may continue; if not, `channelWritabilityChanged` reports when it may.
    package var hasRoom: Bool { self.bytesOnTheWay < Self.roomyBytes }

    // MARK: Faults

    /// Ends TCP without a closing of the protocols above: a FIN after the bytes sent before.
    package func drop() {
        guard let context, case .open = self.state else { return }
        self.state = .silent
        guard let last = self.queuedBatches.last else {
            self.finish(context: context)
            return
        }
        self.queuedBatches.append((last.arrival, .fin))
        self.setLimit(Self.silenceLimit, context: context)
    }

    /// Ends only this direction: a socket that is closed with input unread is reset, and the reset overtakes the FIN.
    private func finish(context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        self.setLimit(Self.dropLimit, context: context)
    }

    /// Ends TCP with a reset; bytes still on the line are lost.
    package func reset() {
        guard let context, self.end(.ended) else { return }
        guard let socket = context.channel as? any SocketOptionProvider else {
            context.close(promise: nil)
            return
        }
        // RFC 9293, 3.10.4: an abort. On the loop the option is set at once.
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    /// Stops sending; the peer's bytes and its end are still read.
    package func fallSilent() {
        guard let context, self.end(.silent) else { return }
        self.setLimit(Self.silenceLimit, context: context)
    }

    /// Stops all activity, as a machine without power.
    package func vanish() {
        guard let context, self.end(.gone) else { return }
        context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
        self.setLimit(Self.silenceLimit, context: context)
    }

    /// Ends the connection in any state, when the mock server stops.
    package func stop() {
        self.state = .ended
        self.context?.close(promise: nil)
    }

    /// Limits the rate, in bytes per second, from now on; `nil` removes the limit.
    func limitRate(_ bytesPerSecond: Int?) {
        self.pacer.bytesPerSecond = bytesPerSecond
    }

    private func end(_ state: State) -> Bool {
        switch self.state {
        case .open: break
        // Later faults find a connection that has ended.
        case .silent, .gone, .ended: return false
        }
        let hadRoom = self.hasRoom
        self.state = state
        self.forgetQueuedBatches()
        // A writer that waits for buffer space would wait forever, and others with it.
        if !hadRoom { self.context?.fireChannelWritabilityChanged() }
        return true
    }

    private func setLimit(_ limit: TimeAmount, context: ChannelHandlerContext) {
        self.limit?.cancel()
        self.limit = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.stop() }
    }

    // MARK: The channel

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.forget()
        self.context = nil
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.forget()
        context.fireChannelInactive()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .open = self.state { context.fireChannelRead(data) }
    }

    package func read(context: ChannelHandlerContext) {
        if case .gone = self.state { return }
        context.read()
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.state {
        case .open where self.pacer.isImmediate && self.queuedBatches.isEmpty:
            context.write(data, promise: promise)
        case .open:
            self.send(self.unwrapOutboundIn(data), promise: promise, context: context)
        case .silent, .gone:
            // For the writer, the bytes have left.
            promise?.succeed(())
        case .ended:
            promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch self.state {
        case .open where self.queuedBatches.isEmpty, .ended:
            context.close(mode: mode, promise: promise)
        case .open:
            self.queuedBatches.append((self.queuedBatches.last?.arrival ?? 0, .close(mode, promise)))
        case .silent, .gone:
            // The close is not passed on: the peer must not notice it.
            promise?.succeed(())
        }
    }

    // MARK: Delivery

    private func send(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        guard self.bytesOnTheWay + bytes.readableBytes <= Self.maximumBytes else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            self.forgetQueuedBatches()
            self.drop()
            return
        }
        self.bytesOnTheWay += bytes.readableBytes + Self.batchBytes
        let arrival = self.pacer.arrival(now: Int64(context.eventLoop.now.uptimeNanoseconds))
        self.queuedBatches.append((arrival, .bytes(bytes, promise)))
        self.arm(context: context)
    }

    /// Returns the next piece. It is cut off only when it is due, so that a waiting batch needs no memory besides its
    /// bytes.
    private func nextPiece() -> (bytes: Int, due: Int64)? {
        if let piece { return piece }
        guard let first = self.queuedBatches.first else { return nil }
        var bytes = 0
        if case .bytes(let all, _) = first.encodedBatch { bytes = min(all.readableBytes, self.pacer.pieceBytes) }
        self.piece = (bytes, self.pacer.deliver(bytes: bytes, arrived: first.arrival))
        return self.piece
    }

    private func arm(context: ChannelHandlerContext) {
        guard self.timer == nil, let next = self.nextPiece() else { return }
        let due = NIODeadline.uptimeNanoseconds(UInt64(max(next.due, 0)))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
            self.timer = nil
            self.deliver(context: context)
        }
    }

    private func deliver(context: ChannelHandlerContext) {
        let now = Int64(context.eventLoop.now.uptimeNanoseconds)
        let hadRoom = self.hasRoom
        while let next = self.nextPiece(), next.due <= now {
            self.piece = nil
            let first = self.queuedBatches.removeFirst()
            switch first.encodedBatch {
            case .bytes(var bytes, let promise):
                self.bytesOnTheWay -= next.bytes
                guard next.bytes < bytes.readableBytes, let start = bytes.readSlice(length: next.bytes) else {
                    self.bytesOnTheWay -= Self.batchBytes
                    context.write(self.wrapOutboundOut(bytes), promise: promise)
                    continue
                }
                self.queuedBatches.prepend((first.arrival, .bytes(bytes, promise)))
                context.write(self.wrapOutboundOut(start), promise: nil)
            case .close(let mode, let promise):
                context.flush()
                context.close(mode: mode, promise: promise)
            case .fin:
                context.flush()
                self.finish(context: context)
            }
        }
        context.flush()
        self.arm(context: context)
        if !hadRoom, self.hasRoom { context.fireChannelWritabilityChanged() }
    }

    private func forgetQueuedBatches() {
        self.timer?.cancel()
        self.timer = nil
        let queuedBatches = self.queuedBatches
        self.queuedBatches = []
        self.piece = nil
        self.bytesOnTheWay = 0
        for (_, encodedBatch) in queuedBatches {
            switch encodedBatch {
            case .bytes(_, let promise), .close(_, let promise): promise?.fail(ChannelError.ioOnClosedChannel)
            case .fin: break
            }
        }
    }

    private func forget() {
        self.state = .ended
        self.limit?.cancel()
        self.limit = nil
        self.forgetQueuedBatches()
    }
}
