import Market
package import NIOCore

/// A symbol in an exchange's list.
package struct ListedSymbol: Sendable, Equatable {
    /// The name for subscribing: `BINANCE:BTCUSDT`.
    package var symbol: String
    /// The name for display: `BTC/USDT`.
    package var displaySymbol: String
    package var description: String

    package init(symbol: String, displaySymbol: String, description: String) {
        self.symbol = symbol
        self.displaySymbol = displaySymbol
        self.description = description
    }

    /// The longest text accepted, in bytes.
    private static let longestText = 128
    /// The largest number of symbols of one exchange; Binance has some thousands.
    package static let maximumListed = 100_000

    /// Reads the answer of `/crypto/symbol`; `nil` if it is not a list of symbols.
    ///
    /// - Parameter exchange: the requested exchange; a symbol in Finnhub's own sample lacks it.
    package static func list(_ body: ByteBuffer, exchange: String) -> [ListedSymbol]? {
        JSONObjects.read(body, limit: Self.maximumListed) { object -> ListedSymbol? in
            guard let symbol = object.text("symbol"), (1...Self.longestText).contains(symbol.utf8.count) else {
                return nil
            }
            let name = SymbolName.withoutExchange(symbol)
            return ListedSymbol(
                symbol: symbol.contains(":") ? symbol : "\(exchange.uppercased()):\(symbol)",
                displaySymbol: Self.short(object.text("displaySymbol")) ?? CoinNames.pair(name),
                description: Self.short(object.text("description")) ?? ""
            )
        }
    }

    private static func short(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return text.utf8.count <= Self.longestText ? text : String(text.prefix(Self.longestText / 4))
    }

    /// Creates a symbol of which only the name is known.
    package init(named symbol: String, description: String) {
        let name = SymbolName.withoutExchange(symbol)
        self.init(symbol: symbol, displaySymbol: CoinNames.pair(name), description: description)
    }
}
