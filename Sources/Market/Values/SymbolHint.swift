/// A hint at the symbol that a user probably meant, for a symbol that the service does not know.
///
/// It is a guess for a person, derived from the name alone. The program neither looks it up nor subscribes to it.
package enum SymbolHint {
    /// Finnhub's names of cryptocurrency exchanges.
    private static let exchanges = [
        "BINANCE", "BINANCEUS", "BITFINEX", "BITMEX", "BITTREX", "COINBASE", "GEMINI", "HITBTC", "HUOBI", "KRAKEN",
        "KUCOIN", "OKEX", "POLONIEX",
    ]
    /// The quote currencies at the end of pairs. A suffix of another entry comes after it.
    private static let quotes = ["FDUSD", "USDT", "USDC", "BUSD", "USD", "EUR", "GBP", "BTC", "ETH", "BNB"]

    /// Returns the name that was probably meant; `nil` if the name does not suggest another one.
    package static func meant(by symbol: String) -> String? {
        guard SymbolName.isValid(symbol) else { return nil }
        let parts = symbol.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let pair = parts[parts.count - 1].uppercased()
        let exchange: String
        if parts.count == 2 {
            let prefix = parts[0].uppercased()
            guard let near = Self.exchanges.contains(prefix) ? prefix : prefix.nearest(in: Self.exchanges) else {
                return nil
            }
            exchange = near
        } else {
            // A name without an exchange may be a stock.
            guard Self.parts(of: pair) != nil else { return nil }
            exchange = pair.contains("-") ? "COINBASE" : "BINANCE"
        }
        let meant = "\(exchange):\(Self.written(pair, at: exchange))"
        return meant == symbol || pair.isEmpty ? nil : meant
    }

    /// Returns a pair in the form that Finnhub uses for the exchange, if that form is known.
    private static func written(_ pair: String, at exchange: String) -> String {
        guard let (base, quote) = Self.parts(of: pair) else { return pair }
        switch exchange {
        case "BINANCE", "BINANCEUS": return base + quote
        case "COINBASE": return "\(base)-\(quote)"
        default: return pair
        }
    }

    /// Splits a pair into base and quote currency; `nil` if it does not end with a usual currency.
    private static func parts(of pair: String) -> (base: String, quote: String)? {
        let letters = pair.filter { $0 != "-" && $0 != "/" && $0 != "_" }
        for quote in Self.quotes where letters.hasSuffix(quote) && letters.utf8.count >= quote.utf8.count + 2 {
            return (String(letters.dropLast(quote.count)), quote)
        }
        return nil
    }
}
