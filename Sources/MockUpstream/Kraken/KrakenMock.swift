package import HTTP
package import Market
package import NIOCore
package import NIOHTTP1
package import Wire

/// Kraken's protocol: its WebSocket API, version 2, and pairs and trades over REST (docs.kraken.com).
package struct KrakenMock: MockProtocol {
    package init() {}

    package var dialect: FrameDialect { .kraken }

    /// About 150 attempts in 10 minutes, then none for 10 minutes, which begin again with each attempt
    /// (docs.kraken.com, exchange/guides/websockets/introduction).
    package var attemptLimit: AttemptLimit? {
        AttemptLimit(count: 150, window: 600_000_000_000, ban: 600_000_000_000, status: 429)
    }

    package func owns(_ head: HTTPRequestHead) -> Bool { head.path == "/v2" || head.path.hasPrefix("/0/") }

    package func refusal(of head: HTTPRequestHead) -> HTTPAnswer? {
        head.path == "/v2" ? nil : self.error(.notFound, "the API is at /v2")
    }

    package func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
        .json(status, Self.failure("EGeneral:\(text)"))
    }

    /// The service is behind Cloudflare, which sends its own codes.
    package func body(of status: Int) -> String {
        switch status {
        case 403: "error code: 1020"
        case 429: "error code: 1015"
        default: ""
        }
    }

    package func makeSession(_ opening: MockSessionOpening) -> any MockSession { KrakenMockSession(opening) }

    package func symbol(_ name: String) -> String {
        Venue(of: name) == .kraken ? Venue.kraken.symbol(of: String(name.dropFirst("KRAKEN:".count))) : name
    }

    package var tradesPerFrame: Int? { 10 }

    package func encode(_ trades: ArraySlice<Trade>, symbols: SymbolTable) -> [ByteBuffer] {
        guard !trades.isEmpty else { return [] }
        return [KrakenEncoder.trades(trades, symbols: symbols, pair: Self.pair(of:))]
    }

    package func cut(_ frame: ByteBuffer, to kept: [Trade], symbols: SymbolTable) -> ByteBuffer? {
        let names = Set(kept.map { symbols.name(of: $0.symbol) })
        return KrakenEncoder.cut(frame) { names.contains(Venue.kraken.symbol(of: $0)) }
    }

    package func errorMessage(_ text: String) -> ByteBuffer {
        KrakenAnswerEncoder.refusal(text, method: nil, request: nil, at: 0)
    }

    package func announcement(at: Int64) -> ByteBuffer? { KrakenAnswerEncoder.status(connection: 1, maintenance: at) }

    package func objection(to head: HTTPRequestHead) -> HTTPAnswer? {
        head.method == .GET || head.method == .POST ? nil : self.error(.methodNotAllowed, "use GET")
    }

    package func answer(_ head: HTTPRequestHead, symbols: [String]) -> HTTPAnswer {
        guard head.path == "/0/public/AssetPairs" else {
            return self.error(.notFound, "the stand-in has /0/public/AssetPairs, Ticker and Trades only")
        }
        var pairs = symbols.filter { Venue(of: $0) == .kraken }.map(Self.pair(of:))
        if let text = head.parameter("pair") {
            let wanted = (PercentText.decoded(text) ?? text).split(separator: ",").map(String.init)
            pairs = pairs.filter { wanted.contains($0) || wanted.contains(KrakenNames.symbol(of: $0)) }
            // The service sends this with status 200, too.
            if pairs.count < wanted.count { return .json(.ok, Self.failure("EQuery:Unknown asset pair")) }
        }
        return .json(
            .ok,
            JSONWriter.object { out in
                out.field("error", [String]())
                out.object("result") { out in for pair in pairs { Self.write(pair, &out) } }
            }
        )
    }

    /// Writes the entry of a pair. Its `wsname` is that of version 1, as the service's is.
    private static func write(_ pair: String, _ out: inout JSONWriter) {
        let key = KrakenNames.symbol(of: pair)
        let assets = pair.split(separator: "/").map { asset in
            switch asset {
            case "BTC": "XBT"
            case "DOGE": "XDG"
            default: String(asset)
            }
        }
        let codes = Self.codes(of: key, assets)
        out.object(named: key) { out in
            out.field("altname", assets.joined())
            out.field("wsname", assets.joined(separator: "/"))
            out.field("base", codes.base)
            out.field("quote", codes.quote)
            out.field("status", "online")
        }
    }

    /// Returns the codes of a pair's two assets. They begin with `X` or `Z` where its key does.
    private static func codes(of key: String, _ assets: [String]) -> (base: String?, quote: String?) {
        let isLegacy = key != assets.joined() && key.utf8.count == 8
        return isLegacy ? (String(key.prefix(4)), String(key.suffix(4))) : (assets.first, assets.last)
    }

    private static func failure(_ text: String) -> ByteBuffer {
        JSONWriter.object { out in out.field("error", [text]) }
    }

    // MARK: Names

    /// The quote assets that a key may end with, longer ones first.
    private static let quotes = [
        "USDT", "USDC", "USDG", "PYUSD", "USD", "EUR", "GBP", "CAD", "AUD", "CHF", "JPY", "XBT", "ETH",
    ]

    /// Returns the pair of a symbol's name: `BTC/USD` for `KRAKEN:XXBTZUSD`, and for `KRAKEN:BTC/USD`.
    ///
    /// A key does not say where its base ends. One that is in no list is divided before a usual quote asset. For a mock
    /// server it is enough that its catalogue and its frames agree on that.
    static func pair(of symbol: String) -> String {
        let name = Venue(of: symbol) == .kraken ? String(symbol.dropFirst("KRAKEN:".count)) : symbol
        if name.contains("/") { return name }
        if let pair = KrakenNames.pair(of: name) { return pair }
        for quote in Self.quotes where name.hasSuffix(quote) && name.count > quote.count {
            return "\(Self.asset(name.dropLast(quote.count)))/\(Self.asset(quote[...]))"
        }
        return name
    }

    /// Returns the tape's name for any name that the REST service takes: `XXBTZUSD`, `XBTUSD`, `XBT/USD`, `BTC/USD`.
    static func symbol(anyName symbol: String) -> String { Venue.kraken.symbol(of: Self.pair(of: symbol)) }

    private static func asset(_ code: Substring) -> String {
        switch code {
        case "XBT": "BTC"
        case "XDG": "DOGE"
        default: String(code)
        }
    }
}
