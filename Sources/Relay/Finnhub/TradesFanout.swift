import Wire

/// The way of trades to the sessions of Finnhub's protocol: in the upstream's own frames, and past all queues to those for
/// whom nothing waits.
final class TradesFanout: TradeFanout {
    private let lanes: ClientLanes
    @exclusivity(unchecked) private var audience = Audience<TradesClient>()
    /// Empty but while a read is sent: the room for what goes to the audience.
    @exclusivity(unchecked) private var parcels: [Audience<TradesClient>.Parcel] = []

    init(lanes: ClientLanes) { self.lanes = lanes }

    /// Changes the symbols of which a session gets every trade.
    func place(_ session: TradesClient, wanting symbols: Set<String>) {
        self.audience.place(session, wanting: symbols, lane: session.output.lane)
    }

    func remove(_ session: TradesClient) { self.audience.remove(session) }

    func epochBegan() { self.audience.epochBegan() }

    func send(_ batches: ArraySlice<TapeBatch>) -> Bool {
        var isDelivered = false
        var parcels: [Audience<TradesClient>.Parcel] = []
        swap(&parcels, &self.parcels)
        self.audience.pack(batches, into: &parcels)
        for parcel in parcels {
            isDelivered = isDelivered || !parcel.members.isEmpty
            self.lanes.send(parcel.bytes, over: parcel.lanes) { index, sent in
                parcel.members[index].deliver(
                    parcel.bytes,
                    behind: sent,
                    messages: parcel.messages,
                    trades: parcel.trades
                )
            }
        }
        // Before the next read, so that its frames find the room of these.
        parcels.removeAll(keepingCapacity: true)
        swap(&parcels, &self.parcels)
        return isDelivered
    }
}
