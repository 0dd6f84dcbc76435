/// The names of well-known coins, by which people search for them.
///
/// Finnhub's list contains `Binance BTCUSDT` and not the word Bitcoin, so a search by that name would otherwise find
/// nothing. Other coins are found only by their tickers.
package enum CoinNames {
    /// The tickers by lower-case name.
    package static let tickers: [String: String] = [
        "aave": "AAVE", "algorand": "ALGO", "aptos": "APT", "arbitrum": "ARB", "avalanche": "AVAX", "axie": "AXS",
        "binance coin": "BNB", "bitcoin": "BTC", "bitcoin cash": "BCH", "bittensor": "TAO", "bonk": "BONK",
        "cardano": "ADA", "chainlink": "LINK", "cosmos": "ATOM", "curve": "CRV", "dash": "DASH", "decentraland": "MANA",
        "dogecoin": "DOGE", "elrond": "EGLD", "ether": "ETH", "ethereum": "ETH", "ethereum classic": "ETC",
        "fantom": "FTM", "filecoin": "FIL", "floki": "FLOKI", "hedera": "HBAR", "immutable": "IMX",
        "injective": "INJ", "internet computer": "ICP", "iota": "IOTA", "kusama": "KSM", "litecoin": "LTC",
        "maker": "MKR", "monero": "XMR", "near protocol": "NEAR", "neo": "NEO", "optimism": "OP", "pepe": "PEPE",
        "polkadot": "DOT", "polygon": "POL", "render": "RENDER", "ripple": "XRP", "sandbox": "SAND", "sei": "SEI",
        "shiba inu": "SHIB", "solana": "SOL", "stacks": "STX", "stellar": "XLM", "sui": "SUI", "tether": "USDT",
        "tezos": "XTZ", "the graph": "GRT", "theta": "THETA", "toncoin": "TON", "tron": "TRX", "uniswap": "UNI",
        "usd coin": "USDC", "vechain": "VET", "worldcoin": "WLD", "zcash": "ZEC",
    ]

    /// The quote currencies, the most usual first.
    package static let quotes = [
        "USDT", "USDC", "FDUSD", "TUSD", "BUSD", "USD", "EUR", "GBP", "JPY", "TRY", "BRL", "BTC", "ETH", "BNB",
    ]

    /// Returns the rank of a quote currency; the most usual come first.
    package static func rank(ofQuote quote: String) -> Int {
        Self.quotes.firstIndex(of: quote.uppercased()) ?? Self.quotes.count
    }

    /// Formats `BTCUSDT` as `BTC/USDT`; a name without a known quote currency stays as it is.
    static func pair(_ name: String) -> String {
        if name.contains("/") { return name }
        let upper = name.uppercased()
        guard let quote = Self.quotes.first(where: { upper.hasSuffix($0) && upper.count > $0.count }) else {
            return name
        }
        let base = name.dropLast(quote.count)
        return base.hasSuffix("-") || base.hasSuffix("_") ? name : "\(base)/\(name.suffix(quote.count))"
    }
}
