import Wire

/// The fan-out of single trades to the sessions of `/v1/stream` that want every one, directly to the sockets of clients
/// for whom nothing waits.
final class StreamFanout: TradeFanout {
    private let numbers: MessageNumbers
    private let slots: DirectSlots
    @exclusivity(unchecked) var groups = SubscriberGroups<StreamClient>()
    private var texts = SymbolTexts()

    init(_ numbers: MessageNumbers, slots: DirectSlots) {
        self.numbers = numbers
        self.slots = slots
    }

    func epochBegan() {
        self.groups.epochBegan()
        self.texts.epochBegan()
    }

    func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool {
        var interested: [SubscriberGroups<StreamClient>.Interested] = []
        self.groups.interested(in: batches, of: present, into: &interested)
        guard let first = interested.first else { return false }
        let union = interested.dropFirst().reduce(first.wanted) { $0.union($1.wanted) }
        var messages = TradeMessages(forStream: batches, union: union, texts: &self.texts, number: self.numbers.next)
        for group in interested {
            guard let content = messages.content(group.wanted) else { continue }
            self.slots.send(content.bytes, over: group.slots) { index, sent in
                group.members[index].deliver(content, behind: sent)
            }
        }
        return true
    }
}
