/// The conversion between the names of Kraken's pairs: `BTC/USD` on its WebSocket, version 2, and the key of the pair
/// in `AssetPairs` (`XXBTZUSD`, `XBTUSDT`), which Finnhub uses and which the tape's names contain.
package enum KrakenNames {
    /// The keys in which a code begins with `X` or `Z`: Kraken's assets of the first years. Kraken makes no more of
    /// them. The list also contains pairs that are no longer traded, since recordings have them.
    private static let legacyKeys = [
        "XETCXETH", "XETCXXBT", "XETCZEUR", "XETCZUSD", "XETHXXBT", "XETHZCAD", "XETHZEUR", "XETHZGBP", "XETHZJPY",
        "XETHZUSD", "XICNXETH", "XICNXXBT", "XLTCXXBT", "XLTCZEUR", "XLTCZJPY", "XLTCZUSD", "XMLNXETH", "XMLNXXBT",
        "XMLNZEUR", "XMLNZUSD", "XREPXETH", "XREPXXBT", "XREPZEUR", "XREPZUSD", "XXBTZCAD", "XXBTZEUR", "XXBTZGBP",
        "XXBTZJPY", "XXBTZUSD", "XXDGXXBT", "XXLMXXBT", "XXLMZAUD", "XXLMZEUR", "XXLMZGBP", "XXLMZUSD", "XXMRXXBT",
        "XXMRZEUR", "XXMRZUSD", "XXRPXXBT", "XXRPZCAD", "XXRPZEUR", "XXRPZJPY", "XXRPZUSD", "XZECXXBT", "XZECZEUR",
        "XZECZUSD", "ZEURZUSD", "ZGBPZUSD", "ZUSDZCAD", "ZUSDZJPY",
    ]

    /// Keys in which only one of the two codes begins with `X` or `Z`.
    private static let mixedKeys = [
        "BTC/EUROP": "XXBTEUROP", "BTC/USDQ": "XXBTUSDQ", "BTC/USDR": "XXBTUSDR", "USDT/USD": "USDTZUSD",
    ]

    private static let keysOfPairs: [String: String] = {
        var keys = Self.mixedKeys
        for key in Self.legacyKeys {
            keys["\(Self.asset(key.dropFirst().prefix(3)))/\(Self.asset(key.suffix(3)))"] = key
        }
        return keys
    }()

    private static let pairsOfKeys = Dictionary(uniqueKeysWithValues: Self.keysOfPairs.map { ($1, $0) })

    /// Returns the key of a pair: `XXBTZUSD` for `BTC/USD`, `XBTUSDT` for `BTC/USDT`.
    ///
    /// A name that is not a pair is returned without change, apart from `BTC` and `DOGE`.
    package static func symbol(of pair: String) -> String {
        if let key = Self.keysOfPairs[pair] { return key }
        return pair.split(separator: "/", omittingEmptySubsequences: false).map(Self.code).joined()
    }

    /// Returns the pair of a key that contains a code of the first years: `BTC/USD` for `XXBTZUSD`. `nil` for any other
    /// key: `ADAUSD` can be divided in more than one way, and only Kraken's catalogue says which is right.
    package static func pair(of symbol: String) -> String? { Self.pairsOfKeys[symbol] }

    /// Returns the name on the WebSocket, version 2, for the one of version 1, which `AssetPairs` has: `BTC/USD` for
    /// `XBT/USD`.
    static func pair(ofVersion1 name: String) -> String {
        name.split(separator: "/", omittingEmptySubsequences: false).map(Self.asset).joined(separator: "/")
    }

    /// The older codes of the two assets that have one, which keys and version 1 contain.
    private static let olderCodes: [Substring: Substring] = ["BTC": "XBT", "DOGE": "XDG"]
    private static let assets = Dictionary(uniqueKeysWithValues: Self.olderCodes.map { ($1, $0) })

    /// Returns the older code of an asset.
    private static func code(_ asset: Substring) -> Substring { Self.olderCodes[asset] ?? asset }

    /// Returns the WebSocket's name of an older code.
    private static func asset(_ code: Substring) -> Substring { Self.assets[code] ?? code }
}
