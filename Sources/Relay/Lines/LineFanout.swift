import NIOCore
import Wire

/// The fan-out of trades to the clients of lines. Each form is encoded once, and sent directly to the sockets of clients
/// for whom nothing waits.
final class LineFanout: TradeFanout {
    private let slots: DirectSlots
    @exclusivity(unchecked) var groups = SubscriberGroups<LineClient>()
    private var plainNames = SymbolTexts(.plain)
    private var jsonNames = SymbolTexts(.json)

    init(slots: DirectSlots) { self.slots = slots }

    func epochBegan() {
        self.groups.epochBegan()
        self.plainNames.epochBegan()
        self.jsonNames.epochBegan()
    }

    func send(_ batches: ArraySlice<TapeBatch>, of present: SymbolSet) -> Bool {
        var interested: [SubscriberGroups<LineClient>.Interested] = []
        self.groups.interested(in: batches, of: present, into: &interested)
        self.send(batches, to: interested, in: .plain, names: &self.plainNames)
        self.send(batches, to: interested, in: .json, names: &self.jsonNames)
        return !interested.isEmpty
    }

    /// Sends the trades to the groups whose form this is. All members of a group have the same.
    private func send(
        _ batches: ArraySlice<TapeBatch>,
        to interested: [SubscriberGroups<LineClient>.Interested],
        in form: LineForm,
        names: inout SymbolTexts
    ) {
        let groups = interested.filter { $0.members.first?.form == form }
        guard let first = groups.first, let client = first.members.first else { return }
        let encoder = LineEncoder(form: form, status: client.context.status)
        let union = groups.dropFirst().reduce(first.wanted) { $0.union($1.wanted) }
        var messages = TradeMessages(batches, union: union) { trade, sequence, batch, out in
            encoder.trade(
                trade,
                symbol: names.text(of: trade.symbol, in: batch.symbols),
                sequence: sequence,
                received: batch.received,
                into: &out
            )
            out.writeInteger(UInt8(ascii: "\n"))
        }
        for group in groups {
            guard let content = messages.content(group.wanted) else { continue }
            self.slots.send(content.bytes, over: group.slots) { index, sent in
                let messages = Int(content.trades)
                group.members[index].deliver(content.bytes, behind: sent, messages: messages, trades: content.trades)
            }
        }
    }
}
