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
    @exclusivity(unchecked) private var room = ByteBuffer()

    init(slots: DirectSlots) { self.slots = slots }

    func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool {
        var interested: [SubscriberGroups<TradesClient>.Interested] = []
        swap(&interested, &self.interested)
        self.groups.interested(in: batches, of: present, into: &interested)
        let isDelivered = !interested.isEmpty
        var encoder = FinnhubBatchEncoder(batches, present: present)
        for group in interested {
            let content = encoder.content(group.wanted, whole: &self.room)
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
