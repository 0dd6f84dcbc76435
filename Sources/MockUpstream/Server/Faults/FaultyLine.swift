import Glibc
package import NIOCore

/// The first handler behind a stand-in's socket: the line to one client, with what can go wrong on a line.
///
/// It stands below TLS, so a drop here is no end that TLS or WebSocket has agreed on. Used on its loop only.
package final class FaultyLine: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// Above this many bytes on their way there is no room for more, which a writer of any amount has to heed.
    private static let roomyBytes = 64 << 10
    /// Above this many bytes on their way the client is dropped: what it makes the stand-in answer is not kept for ever.
    private static let maximumBytes = 32 << 20
    /// What a write costs beside its bytes: a million pongs of no bytes are not free.
    private static let batchBytes = 64
    /// How long a dropped connection waits for the peer's end of it.
    private static let dropLimit: TimeAmount = .seconds(5)
    /// How long a peer that is never answered again may keep its socket.
    private static let silenceLimit: TimeAmount = .minutes(10)

    private enum State {
        case open
        /// Nothing goes out any more; what comes in is taken and forgotten, so that the peer's end is seen.
        case silent
        /// Nothing goes out or comes in any more, not even an end.
        case gone
        case ended
    }

    /// What waits for its time.
    private enum EncodedBatch {
        case bytes(ByteBuffer, EventLoopPromise<Void>?)
        case close(CloseMode, EventLoopPromise<Void>?)
        /// The end of a dropped connection.
        case fin
    }

    private var state = State.open
    private var pacer: LinePacer
    private var parcels: CircularBuffer<(arrival: Int64, encodedBatch: EncodedBatch)> = []
    /// What of the first parcel is delivered next, and when.
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

    /// Whether a writer of any amount may write on; if not, `channelWritabilityChanged` tells when it may.
    package var hasRoom: Bool { self.bytesOnTheWay < Self.roomyBytes }

    // MARK: What can happen to it

    /// Ends TCP without a word of the protocols above: a FIN behind what was sent before.
    package func drop() {
        guard let context, case .open = self.state else { return }
        self.state = .silent
        guard let last = self.parcels.last else {
            self.finish(context: context)
            return
        }
        self.parcels.append((last.arrival, .fin))
        self.setLimit(Self.silenceLimit, context: context)
    }

    /// Ends only this direction: a socket that is closed with input unread is reset, and the reset overtakes the FIN.
    private func finish(context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        self.setLimit(Self.dropLimit, context: context)
    }

    /// Ends TCP with a reset: nothing that is still on its way arrives.
    package func reset() {
        guard let context, self.end(.ended) else { return }
        guard let socket = context.channel as? any SocketOptionProvider else {
            context.close(promise: nil)
            return
        }
        // RFC 9293, 3.10.4: an abort. The option is set at once, being on the loop.
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    /// Sends nothing any more; the peer's bytes and its end are still taken.
    package func fallSilent() {
        guard let context, self.end(.silent) else { return }
        self.setLimit(Self.silenceLimit, context: context)
    }

    /// Does nothing any more, as a machine without power.
    package func vanish() {
        guard let context, self.end(.gone) else { return }
        context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
        self.setLimit(Self.silenceLimit, context: context)
    }

    /// Ends the connection, whatever state it is in; for a stand-in that stops.
    package func stop() {
        self.state = .ended
        self.context?.close(promise: nil)
    }

    /// Carries at most so many bytes a second from now on.
    func limitRate(_ bytesPerSecond: Int?) {
        self.pacer.bytesPerSecond = bytesPerSecond
    }

    private func end(_ state: State) -> Bool {
        switch self.state {
        case .open: break
        // Later faults find a connection that is at its end.
        case .silent, .gone, .ended: return false
        }
        let hadRoom = self.hasRoom
        self.state = state
        self.forgetParcels()
        // Whoever waits for room, and with it others, would wait for ever.
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
        case .open where self.pacer.isImmediate && self.parcels.isEmpty:
            context.write(data, promise: promise)
        case .open:
            self.send(self.unwrapOutboundIn(data), promise: promise, context: context)
        case .silent, .gone:
            // To whoever writes, it has left.
            promise?.succeed(())
        case .ended:
            promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch self.state {
        case .open where self.parcels.isEmpty, .ended:
            context.close(mode: mode, promise: promise)
        case .open:
            self.parcels.append((self.parcels.last?.arrival ?? 0, .close(mode, promise)))
        case .silent, .gone:
            // The protocols above may think what they want: nobody hears of it.
            promise?.succeed(())
        }
    }

    // MARK: On the way

    private func send(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext) {
        guard self.bytesOnTheWay + bytes.readableBytes <= Self.maximumBytes else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            self.forgetParcels()
            self.drop()
            return
        }
        self.bytesOnTheWay += bytes.readableBytes + Self.batchBytes
        let arrival = self.pacer.arrival(now: Int64(context.eventLoop.now.uptimeNanoseconds))
        self.parcels.append((arrival, .bytes(bytes, promise)))
        self.arm(context: context)
    }

    /// The next piece, cut off only when its turn comes, so that what waits costs no more than its bytes.
    private func nextPiece() -> (bytes: Int, due: Int64)? {
        if let piece { return piece }
        guard let first = self.parcels.first else { return nil }
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
            let first = self.parcels.removeFirst()
            switch first.encodedBatch {
            case .bytes(var bytes, let promise):
                self.bytesOnTheWay -= next.bytes
                guard next.bytes < bytes.readableBytes, let start = bytes.readSlice(length: next.bytes) else {
                    self.bytesOnTheWay -= Self.batchBytes
                    context.write(self.wrapOutboundOut(bytes), promise: promise)
                    continue
                }
                self.parcels.prepend((first.arrival, .bytes(bytes, promise)))
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

    private func forgetParcels() {
        self.timer?.cancel()
        self.timer = nil
        let parcels = self.parcels
        self.parcels = []
        self.piece = nil
        self.bytesOnTheWay = 0
        for (_, encodedBatch) in parcels {
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
        self.forgetParcels()
    }
}
