import Market
import NIOCore
import Wire

/// The progress of a client that gets the frames of a break.
struct FrameCatchUp {
    /// The position up to which it has them.
    var place: TapePosition
    /// The symbols that it resumes. Others to which it subscribes meanwhile follow at the end.
    let symbols: [String]
}

/// The resumption of a client of Finnhub's protocol after a break, with the frames that its fan-out keeps
/// (``FrameRing``).
extension TradesClient {
    /// The bytes of one step of the catch-up; the loop serves other clients between two steps.
    private static let stepBytes = 32 << 10

    private var fanout: TradesFanout { self.context.index.fanout(of: TradesClient.self) }

    private var now: Int64 { Int64(self.context.now.uptimeNanoseconds) }

    /// Begins to keep frames for the client, and sends it the position at which it begins.
    func beginKeeping() {
        let ring = self.context.ring
        self.fanout.resumableClientJoined(FrameRing(epoch: ring.epoch, next: ring.sequences.upperBound))
        self.sendPosition()
    }

    /// Sends the position of the newest trade.
    private func sendPosition() {
        let ring = self.context.ring
        self.send(.position(TapePosition(epoch: ring.epoch ?? 0, sequence: max(ring.sequences.upperBound, 1) - 1)))
    }

    func endKeeping() { self.fanout.resumableClientLeft(now: self.now) }

    /// Subscribes to symbols, and sends their kept frames after a position.
    func resume(_ symbols: [String], since: TapePosition) {
        self.fanout.expireKept(now: self.now)
        // Of a symbol that the upstream did not send, trades may be missing that no gap reports.
        let wereSent = Set(self.context.symbols).isSuperset(of: symbols)
        // Frames that arrive from now on come from the kept ones, too.
        self.catchUp = FrameCatchUp(place: since, symbols: symbols)
        for symbol in symbols where self.isOpen { self.subscribe(symbol) }
        guard self.isOpen else { return }
        let ring = self.fanout.kept
        let isComplete =
            wereSent && ring?.isComplete(after: since, of: symbols) == true
            && symbols.allSatisfy { self.context.index.isSubscribed(self, to: $0) }
        self.send(.resumed(isComplete: isComplete))
        guard let kept = ring, kept.follows(since) else { return self.caughtUp() }
        self.pace.setCatchingUp(true)
        // Whatever was lost before them, the kept frames are the next ones.
        if !isComplete { self.catchUp?.place.sequence = max(since.sequence, kept.before) }
        // In a later turn: trades are no answers, for whose reading further requests wait.
        self.pace.scheduleCatchUp()
    }

    /// Reports a gap of the upstream to a client that can resume; others learn of it on `/v1/stream`. A client that is
    /// catching up gets it before the rest of the kept frames.
    func gapFound(_ gap: Gap, _ message: SharedMessage) {
        if self.canResume { self.send(.gap(gap)) }
    }

    private func send(_ message: NumberedMessage) {
        var text = ByteBuffer()
        message.write(into: &text)
        self.write(SharedMessage.framed(text), messages: 1)
    }

    /// Continues the catch-up, if there is one, since little waits for the client again.
    func becameWritable() {
        guard self.isOpen, self.catchUp != nil else { return }
        self.pace.scheduleCatchUp()
    }

    /// Sends one step of the kept frames, if the client reads.
    func sendCatchUp() {
        guard self.isOpen, self.isWritable, let catchUp = self.catchUp else { return }
        let place = catchUp.place
        let wanted = catchUp.symbols.filter { self.context.index.isSubscribed(self, to: $0) }
        guard let kept = self.fanout.kept, kept.holds(after: place, of: wanted) else {
            return self.close(.tryAgainLater, reason: "the frames since \(place) are no longer kept")
        }
        let batches = kept.batches(after: place.sequence, about: Self.stepBytes)
        guard let last = batches.last else { return self.caughtUp() }
        var cuts = FinnhubTradeEncoder.CutFrames()
        var out = ByteBuffer()
        let content = FinnhubTradeEncoder.encode(
            batches[...],
            wanted: kept.numbers(of: wanted),
            isAll: false,
            hasPositions: true,
            cuts: &cuts,
            into: &out
        )
        self.catchUp?.place.sequence = last.firstSequence + UInt64(last.trades.count) - 1
        if content.messages > 0 { self.write(content.bytes, messages: content.messages) }
        // If the channel is full after the flush, its becoming writable triggers the next step.
        self.pace.scheduleCatchUp()
    }

    private func caughtUp() {
        self.catchUp = nil
        self.pace.setCatchingUp(false)
        self.symbolsChanged()
        self.sendPosition()
    }
}
