import Wire

/// The way of single trades to the sessions of `/v1/stream` that want every one.
final class StreamFanout: TradeFanout {
    private unowned let relay: RelayHub
    @exclusivity(unchecked) private var audience = Audience<StreamClient>()
    private var texts = SymbolTexts()

    init(_ relay: RelayHub) { self.relay = relay }

    /// Changes what a session gets every trade of.
    func place(_ session: StreamClient, wanting wish: Audience<StreamClient>.Wish) {
        self.audience.place(session, wanting: wish)
    }

    func remove(_ session: StreamClient) { self.audience.remove(session) }

    func epochBegan() {
        self.audience.epochBegan()
        self.texts.epochBegan()
    }

    func send(_ batches: ArraySlice<TapeBatch>) -> Bool {
        guard !self.audience.isEmpty else { return false }
        let portions = self.audience.portions(of: batches, present: TradeCourier.symbols(in: batches))
        guard let first = portions.first else { return false }
        let union = portions.dropFirst().reduce(first.wanted) { $0.union($1.wanted) }
        var sheet = TradeSheet(batches, union: union, texts: &self.texts, number: self.relay.number)
        for portion in portions {
            guard let content = sheet.content(portion.wanted) else { continue }
            for session in portion.members { session.deliver(content) }
        }
        return true
    }
}
