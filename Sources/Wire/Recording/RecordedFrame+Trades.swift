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

extension RecordedNumbers {
    /// Marks, among all trades that a frame's text holds, those that may have come before and those that were ahead, and takes
    /// out those that are not on the tape; returns `false`, and changes nothing, where these are not the numbers of that text.
    package func apply(to trades: inout [Trade]) -> Bool {
        guard self.apply(toAll: &trades) else { return false }
        for place in self.leftOut.reversed() { trades.remove(at: place) }
        return true
    }

    /// The same, but those that are not on the tape stay, marked: they are not for having come before, as far as the tape
    /// could know.
    package func apply(toAll trades: inout [Trade]) -> Bool {
        guard trades.count - self.leftOut.count == self.count else { return false }
        if let last = self.leftOut.last, last >= trades.count { return false }
        if let last = self.possibleRepeats.last, last >= trades.count { return false }
        if let last = self.ahead.last, last >= trades.count { return false }
        for place in self.possibleRepeats { trades[place].marks.insert(.possibleRepeat) }
        for place in self.leftOut { trades[place].marks.insert(.possibleRepeat) }
        for place in self.ahead { trades[place].marks.insert(.ahead) }
        return true
    }
}

extension RecordedFrame {
    /// The trades of the frame that are on the tape, with their numbers; `nil` where it has no numbers, or its text does not
    /// hold what they say.
    package func numberedTrades(_ reader: inout FrameReader, symbols: inout SymbolTable) -> [RecordedTrade]? {
        guard let numbers = self.numbers else { return nil }
        var trades: [Trade] = []
        _ = reader.read(self.frame, of: self.dialect, symbols: &symbols, into: &trades)
        guard numbers.apply(to: &trades) else { return nil }
        return trades.enumerated().map {
            RecordedTrade(trade: $0.element, sequence: numbers.first &+ UInt64($0.offset))
        }
    }
}
