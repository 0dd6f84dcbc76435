import Market

/// The members of one trade, as a general parser found them in any order.
struct VenueTradeFields {
    var symbol: JSONString?
    var price: ExactDecimal?
    var size: ExactDecimal?
    var id: UInt64?
    /// ns since 1970 UTC.
    var time: Int64?

    /// Returns the trade; `nil` if a member is missing or not valid. A price or a size of zero is no trade.
    func trade(of venue: Venue, marks: TradeMarks = [], symbols: inout SymbolTable) -> Trade? {
        guard
            let price, TradeBounds.canBePrice(price), let size, TradeBounds.canBeSize(size), !size.isZero, let id,
            let time,
            let symbol
        else { return nil }
        guard let number = symbol.withUnescaped({ venue.intern($0, in: &symbols) }) else {
            if symbols.isFull, symbol.withUnescaped({ SymbolTable.isName($0) }) { symbols.noteLeftOut() }
            return nil
        }
        return Trade(price: price, size: size, exchangeTime: time, symbol: number, id: id, marks: marks)
    }
}
