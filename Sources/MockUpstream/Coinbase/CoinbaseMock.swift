package import HTTP
package import Market
package import NIOCore
package import NIOHTTP1
package import Wire

/// Coinbase Exchange's protocol: its feed, and products and trades over REST (docs.cdp.coinbase.com, exchange).
package struct CoinbaseMock: MockProtocol {
    package init() {}

    package var dialect: FrameDialect { .coinbase }

    /// 8 requests a second with bursts of 20 (exchange/websocket-feed/rate-limits): 20 in 2.5 s here.
    package var attemptLimit: AttemptLimit? { AttemptLimit(count: 20, window: 2_500_000_000, status: 429) }

    package func owns(_ head: HTTPRequestHead) -> Bool {
        head.path == "/products" || head.path.hasPrefix("/products/")
            || head.path == "/" && FinnhubMock().key(in: head) == nil
    }

    package func refusal(of head: HTTPRequestHead) -> HTTPAnswer? {
        head.path == "/" ? nil : self.error(.notFound, "the feed is at /")
    }

    package func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
        .json(status, JSONWriter.object { out in out.field("message", text) })
    }

    package func body(of status: Int) -> String {
        switch status {
        case 403: "{\"message\":\"Forbidden\"}"
        case 429: "{\"message\":\"Public rate limit exceeded\"}"
        default: ""
        }
    }

    package func makeSession(_ opening: MockSessionOpening) -> any MockSession { CoinbaseMockSession(opening) }

    package var tradesPerFrame: Int? { 1 }

    package func encode(_ trades: ArraySlice<Trade>, symbols: SymbolTable) -> [ByteBuffer] {
        trades.map { CoinbaseEncoder.match($0, symbols: symbols) }
    }

    package func errorMessage(_ text: String) -> ByteBuffer { CoinbaseEncoder.error(text) }

    package func objection(to head: HTTPRequestHead) -> HTTPAnswer? {
        guard head.method == .GET else { return self.error(.methodNotAllowed, "use GET") }
        // The service's edge refuses clients without a name.
        return head.headers.contains(name: "User-Agent") ? nil : self.error(.forbidden, "Forbidden")
    }

    package func answer(_ head: HTTPRequestHead, symbols: [String]) -> HTTPAnswer {
        guard head.path == "/products" else {
            return self.error(.notFound, "the stand-in has /products, /products/X/stats and /products/X/trades only")
        }
        return .json(
            .ok,
            JSONWriter.array { out in
                for symbol in symbols where Venue(of: symbol) == .coinbase {
                    let name = Venue.coinbase.native(of: symbol)
                    let parts = name.split(separator: "-", maxSplits: 1).map(String.init)
                    out.element { out in
                        out.field("id", name)
                        out.field("base_currency", parts.first)
                        out.field("quote_currency", parts.last)
                        out.field("display_name", parts.joined(separator: "/"))
                        out.field("status", "online")
                        out.field("trading_disabled", false)
                    }
                }
            }
        )
    }
}
