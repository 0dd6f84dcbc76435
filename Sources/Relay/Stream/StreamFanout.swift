import Wire

/// The fan-out of single trades to the sessions of `/v1/stream` that want every one.
final class StreamFanout: TradeFanout {
    private unowned let relay: RelayHub
    @exclusivity(unchecked) private var subscribers = SubscriberGroups<StreamClient>()
    private var texts = SymbolTexts()

    init(_ relay: RelayHub) { self.relay = relay }

    /// Changes the symbols whose trades a session gets.
    func place(_ session: StreamClient, wanting filter: SubscriberGroups<StreamClient>.SymbolFilter) {
        self.subscribers.place(session, wanting: filter)
    }

    func remove(_ session: StreamClient) { self.subscribers.remove(session) }

    func epochBegan() {
        self.subscribers.epochBegan()
        self.texts.epochBegan()
    }

    func send(_ batches: ArraySlice<TapeBatch>) -> Bool {
        guard !self.subscribers.isEmpty else { return false }
        let interestedGroups = self.subscribers.interestedGroups(
            of: batches,
            present: FinnhubTradeEncoder.symbols(in: batches)
        )
        guard let first = interestedGroups.first else { return false }
        let union = interestedGroups.dropFirst().reduce(first.wanted) { $0.union($1.wanted) }
        var encoder = StreamTradeEncoder(batches, union: union, texts: &self.texts, number: self.relay.number)
        for group in interestedGroups {
            guard let content = encoder.content(group.wanted) else { continue }
            for session in group.members { session.deliver(content) }
        }
        return true
    }
}
