import NIOCore
import Wire

/// The fan-out of trades to the sessions of Finnhub's protocol. It sends the upstream's own frames, directly to the
/// sockets of clients for whom nothing waits.
final class TradesFanout: TradeFanout {
    private let slots: DirectSlots
    @exclusivity(unchecked) var groups = SubscriberGroups<TradesClient>()
    /// The array for the interested groups, kept for its capacity; empty between two sends.
    @exclusivity(unchecked) private var interested: [SubscriberGroups<TradesClient>.Interested] = []
    /// The buffer for the frames of groups that want a whole batch. It is reused unless a client's queue still holds
    /// it.
    @exclusivity(unchecked) private var buffer = ByteBuffer()
    /// The same for frames with positions.
    @exclusivity(unchecked) private var numberedBuffer = ByteBuffer()
    /// The newest frames, for clients that resume after a break: from the first such client on until a while after the
    /// last one has left.
    @exclusivity(unchecked) private(set) var kept: FrameRing?
    private var resumableClients = 0
    /// When the last client that can resume left; monotonic ns.
    private var lastLeft: Int64 = 0

    init(slots: DirectSlots) { self.slots = slots }

    /// Whether no client wants trades and no frames are kept.
    var isEmpty: Bool { self.groups.isEmpty && self.kept == nil }

    /// Notes that a client has come that can resume after a break.
    ///
    /// - Parameter ring: a ring that begins now.
    func resumableClientJoined(_ ring: @autoclosure () -> FrameRing) {
        self.resumableClients += 1
        if self.kept == nil { self.kept = ring() }
    }

    /// Notes that such a client has gone; it may come again for a while.
    func resumableClientLeft(now: Int64) {
        self.resumableClients -= 1
        self.lastLeft = now
    }

    func interrupted(_ symbol: String?) { self.kept?.interrupted(symbol) }

    /// Drops the kept frames that are too old, and the ring if no client needs it.
    func expireKept(now: Int64) {
        self.kept?.expire(now: now)
        if self.resumableClients == 0, now - self.lastLeft > FrameRing.usualSpan { self.kept = nil }
    }

    private func keep(_ batches: ArraySlice<TapeBatch>) {
        for index in batches.indices where !batches[index].trades.isEmpty {
            self.kept?.append(batches[index])
            self.expireKept(now: batches[index].receivedMonotonic)
        }
    }

    func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool {
        if self.kept != nil { self.keep(batches) }
        var interested: [SubscriberGroups<TradesClient>.Interested] = []
        swap(&interested, &self.interested)
        self.groups.interested(in: batches, of: present, into: &interested)
        let isDelivered = !interested.isEmpty
        var encoder = FinnhubBatchEncoder(batches, present: present)
        lazy var numbered = FinnhubBatchEncoder(batches, present: present, hasPositions: true)
        lazy var filled = FinnhubBatchEncoder(batches, present: present, takesFilled: true)
        for group in interested {
            // All members of a group have the same filter.
            let content: FinnhubTradeEncoder.Content
            if group.members.first?.canResume == true {
                content = numbered.content(group.wanted, whole: &self.numberedBuffer)
            } else if group.members.first?.takesFilled == true {
                var buffer = ByteBuffer()
                content = filled.content(group.wanted, whole: &buffer)
            } else {
                content = encoder.content(group.wanted, whole: &self.buffer)
            }
            // All trades may be filled ones.
            guard content.messages > 0 else { continue }
            self.slots.send(content.bytes, over: group.slots) { index, sent in
                group.members[index].deliver(
                    content.bytes,
                    behind: sent,
                    messages: content.messages,
                    trades: content.trades
                )
            }
        }
        // Emptied before the next batch, so that a change of the groups copies no members.
        interested.removeAll(keepingCapacity: true)
        swap(&interested, &self.interested)
        return isDelivered
    }
}
