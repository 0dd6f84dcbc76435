import Wire

/// The way of trades to the sessions of Finnhub's protocol: in the upstream's own frames, and past all queues to those for
/// whom nothing waits.
final class TradesFanout: TradeFanout {
    private let slots: DirectSlots
    @exclusivity(unchecked) private var subscribers = SubscriberGroups<TradesClient>()
    /// Empty but while a read is sent: the room for what goes to the audience.
    @exclusivity(unchecked) private var parcels: [SubscriberGroups<TradesClient>.EncodedBatch] = []

    init(slots: DirectSlots) { self.slots = slots }

    /// Changes the symbols of which a session gets every trade.
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
        // Before the next read, so that its frames find the room of these.
        parcels.removeAll(keepingCapacity: true)
        swap(&parcels, &self.parcels)
        return isDelivered
    }
}
