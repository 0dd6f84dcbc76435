package import Market
package import NIOCore

extension StreamMessage {
    /// Whether a text is a `trade` message, as this program writes it: its type is the first member.
    package static func isTrade(_ text: ByteBuffer) -> Bool { text.begins(with: "{\"type\":\"trade\",") }

    /// Appends the message's trade, if it is one, and returns the message's content.
    package func appendTrade(to trades: inout [Trade], symbols: inout SymbolTable) -> FrameContent {
        switch self {
        case .trade(let found):
            guard let symbol = symbols.intern(found.symbol) else { return .trades(skipped: 1) }
            var trade = Trade(
                price: found.price,
                size: found.size,
                exchangeTime: found.exchangeTime,
                symbol: symbol,
                id: found.id
            )
            if found.isAhead { trade.marks.insert(.ahead) }
            if found.isPossibleRepeat { trade.marks.insert(.possibleRepeat) }
            if found.isFilled { trade.marks.insert(.filled) }
            trades.append(trade)
            return .trades(skipped: 0)
        case .hello, .snapshot, .price, .trades, .status, .gap, .settled, .venueDay, .resumed, .symbol, .released,
            .replay, .error, .unknown:
            return .other
        case .malformed: return .malformed
        }
    }
}
