package import Market

extension RecordedNote {
    /// The most ranges of lost ids in a line. More were never written.
    static let maximumLost = 4_096

    /// Converts the outcome of a gap.
    package init(_ outcome: GapOutcome) {
        self.init(.settled)
        self.symbol = outcome.symbol
        self.missing = outcome.missing
        self.from = outcome.from
        self.to = outcome.to
        self.lost = outcome.lost
        self.reason = outcome.reason
    }

    /// The outcome of a gap; `nil` in other notes.
    package var outcome: GapOutcome? {
        guard self.kind == .settled, let symbol, let from, let to else { return nil }
        return GapOutcome(
            symbol: symbol,
            missing: self.missing,
            from: from,
            to: to,
            lost: self.lost,
            reason: self.reason
        )
    }

    /// Reads the lost ids of a line, such as `["2-4","9-9"]`, in ascending order and among those that were missing;
    /// `nil` for anything else.
    static func lost(_ texts: [String], among missing: ClosedRange<UInt64>?) -> [ClosedRange<UInt64>]? {
        var lost: [ClosedRange<UInt64>] = []
        for text in texts {
            let ends = text.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2,
                let ids = TradeID.range(first: TradeID.parse(ends[0]), last: TradeID.parse(ends[1])),
                let missing, missing.contains(ids.lowerBound), missing.contains(ids.upperBound),
                lost.last.map({ $0.upperBound < ids.lowerBound }) ?? true
            else { return nil }
            lost.append(ids)
        }
        return lost
    }
}
