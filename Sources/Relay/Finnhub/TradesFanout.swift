import Wire

/// The fan-out of trades to the sessions of Finnhub's protocol. It sends the upstream's own frames, directly to the
/// sockets of clients for whom nothing waits.
final class TradesFanout: TradeFanout {
    private let slots: DirectSlots
    @exclusivity(unchecked) private var subscribers = SubscriberGroups<TradesClient>()
    /// The array for the encoded batches, kept for its capacity; empty between two sends.
    @exclusivity(unchecked) private var parcels: [SubscriberGroups<TradesClient>.EncodedBatch] = []

    init(slots: DirectSlots) { self.slots = slots }

    /// Changes the symbols whose trades a session gets.
    func place(_ session: TradesClient, wanting symbols: Set<String>) {
        self.subscribers.place(session, wanting: symbols, slot: session.output.slot)
    }

    func remove(_ session: TradesClient) { self.subscribers.remove(session) }

    func epochBegan() { self.subscribers.epochBegan() }

    func send(_ batches: ArraySlice<TapeBatch>) -> Bool {
        var isDelivered = false
        var parcels: [SubscriberGroups<TradesClient>.EncodedBatch] = []
        swap(&parcels, &self.parcels)
        self.subscribers.pack(batches, into: &parcels)
        for encodedBatch in parcels {
            isDelivered = isDelivered || !encodedBatch.members.isEmpty
            self.slots.send(encodedBatch.bytes, over: encodedBatch.slots) { index, sent in
                encodedBatch.members[index].deliver(
                    encodedBatch.bytes,
                    behind: sent,
                    messages: encodedBatch.messages,
                    trades: encodedBatch.trades
                )
            }
        }
        // Emptied before the next batch, so that its frames can reuse the memory of these.
        parcels.removeAll(keepingCapacity: true)
        swap(&parcels, &self.parcels)
        return isDelivered
    }
}
