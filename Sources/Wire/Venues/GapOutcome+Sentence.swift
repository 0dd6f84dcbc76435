package import Market

extension GapOutcome {
    /// The outcome in one line, such as `BINANCE:BTCUSDT: the 1,204 missing trades are filled`, or
    /// `BINANCE:BTCUSDT: 12 trades are lost for good, ids 5 to 16: the venue has them no more`.
    package var sentence: String {
        let subject = SymbolName.word(self.symbol)
        guard let missing else { return "\(subject): no trade is missing in the gap" }
        let all = TradeID.count(missing)
        guard !self.isComplete else {
            if all == 1 { return "\(subject): the missing trade is filled" }
            return "\(subject): the \(TradeID.grouped(all)) missing trades are filled"
        }
        let count = self.lost.reduce(UInt64(0)) { $0.addingCapped(TradeID.count($1)) }
        let ids = self.lost.prefix(Self.namedRanges).map(TradeID.text)
        let more = self.lost.count - ids.count
        let list = ids.joined(separator: ", ") + (more > 0 ? " and \(more) more ranges" : "")
        let isOne = count == 1
        let reason = self.reason.map { ": \(ScreenText.clean($0, columns: 256))" } ?? ""
        return "\(subject): \(TradeID.grouped(count)) \(isOne ? "trade is" : "trades are") lost for good, "
            + "\(isOne ? "id" : "ids") \(list)\(reason)"
    }

    /// The ranges of lost ids that a line names.
    private static let namedRanges = 3
}
