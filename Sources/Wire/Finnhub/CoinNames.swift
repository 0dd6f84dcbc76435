/// What the coins behind the tickers are called, as far as people look for them by name.
///
/// Finnhub's list says `Binance BTCUSDT` and nothing of Bitcoin, so that without this nobody would find it by its name. It
/// holds well-known coins only; every other one is found by its ticker.
package enum CoinNames {
    /// Tickers by lower-case name.
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

    /// What a coin is traded for, the usual first.
    package static let quotes = [
        "USDT", "USDC", "FDUSD", "TUSD", "BUSD", "USD", "EUR", "GBP", "JPY", "TRY", "BRL", "BTC", "ETH", "BNB",
    ]

    /// The place of a quote currency; the usual ones come first.
    package static func rank(ofQuote quote: String) -> Int {
        Self.quotes.firstIndex(of: quote.uppercased()) ?? Self.quotes.count
    }

    /// `BTCUSDT` as `BTC/USDT`; a name that ends in no known currency as it is.
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
