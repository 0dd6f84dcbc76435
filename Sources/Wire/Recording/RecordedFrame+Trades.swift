package import Market

/// One trade of a recording under its number.
package struct RecordedTrade: Sendable, Equatable {
    package var trade: Trade
    package var sequence: UInt64

    package init(trade: Trade, sequence: UInt64) {
        self.trade = trade
        self.sequence = sequence
    }
}

extension RecordedFrame {
    /// The trades of the frame that are on the tape, with their numbers; `nil` where it has no numbers, or its text does not
    /// hold what they say.
    package func numberedTrades(_ parser: inout FinnhubParser, symbols: inout SymbolTable) -> [RecordedTrade]? {
        guard let numbers = self.numbers else { return nil }
        var trades: [Trade] = []
        _ = parser.parse(self.frame, symbols: &symbols, into: &trades)
        guard trades.count - numbers.leftOut.count == numbers.count else { return nil }
        if let last = numbers.leftOut.last, last >= trades.count { return nil }
        for place in numbers.leftOut.reversed() { trades.remove(at: place) }
        return trades.enumerated().map {
            RecordedTrade(trade: $0.element, sequence: numbers.first &+ UInt64($0.offset))
        }
    }
}
