package import HTTP
package import Market
package import NIOCore
package import NIOHTTP1
package import WebSocket
package import Wire

/// Binance's protocol: the streams of its spot market, and `exchangeInfo` and trades over REST (binance-spot-api-docs).
package struct BinanceMock: MockProtocol {
    package init() {}

    package var dialect: FrameDialect { .binance }

    /// 300 attempts in 5 minutes (web-socket-streams.md). What a further one is answered with is not documented; it is 429
    /// here. A client that exceeds the rate of messages repeatedly is banned; the shortest ban is 2 minutes.
    package var attemptLimit: AttemptLimit? {
        AttemptLimit(
            count: 300,
            window: 300_000_000_000,
            status: 429,
            breaches: (count: 3, ban: 120_000_000_000, status: 418)
        )
    }

    package func owns(_ head: HTTPRequestHead) -> Bool {
        head.path == "/stream" || head.path == "/ws" || head.path.hasPrefix("/ws/") || head.path.hasPrefix("/api/")
    }

    package func refusal(of head: HTTPRequestHead) -> HTTPAnswer? {
        guard head.path == "/stream" || head.path == "/ws" || head.path.hasPrefix("/ws/") else {
            return self.error(.notFound, "the streams are at /stream and /ws")
        }
        return nil
    }

    package func error(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
        .json(status, BinanceEncoder.error(code: -1_000, text))
    }

    package func body(of status: Int) -> String {
        switch status {
        case 418, 429:
            "{\"code\":-1003,\"msg\":\"Too much request weight used; please use WebSocket Streams for live updates.\"}"
        case 451:
            "{\"code\":0,\"msg\":\"Service unavailable from a restricted location according to 'b. Eligibility' in "
                + "https://www.binance.com/en/terms.\"}"
        default: ""
        }
    }

    /// The service cuts a connection that has answered no ping for 60 s. The session sends the pings, with a payload.
    package func adjust(_ settings: inout WebSocketSettings) { settings.pingInterval = nil }

    package func makeSession(_ opening: MockSessionOpening) -> any MockSession { BinanceMockSession(opening) }

    package var tradesPerFrame: Int? { 1 }

    package func encode(_ trades: ArraySlice<Trade>, symbols: SymbolTable) -> [ByteBuffer] {
        trades.map { BinanceEncoder.trade($0, symbols: symbols) }
    }

    package func errorMessage(_ text: String) -> ByteBuffer { BinanceEncoder.error(code: 2, text) }

    package func announcement(at: Int64) -> ByteBuffer? { BinanceEncoder.serverShutdown(at: at) }

    package func answer(_ head: HTTPRequestHead, symbols: [String]) -> HTTPAnswer {
        guard head.path == "/api/v3/exchangeInfo" else {
            let paths = "/api/v3/exchangeInfo, ticker/24hr, trades and historicalTrades"
            return self.error(.notFound, "the stand-in has \(paths) only")
        }
        let names = symbols.filter { Venue(of: $0) == .binance }.map(Venue.binance.native)
        guard let wanted = Self.wanted(head) else { return .json(.ok, Self.information(names)) }
        guard wanted.allSatisfy(names.contains) else {
            return .json(.badRequest, BinanceEncoder.error(code: -1_121, "Invalid symbol."))
        }
        return .json(.ok, Self.information(wanted))
    }

    /// Returns the symbols that a request names: `symbol=BTCUSDT` or `symbols=["BTCUSDT","ETHUSDT"]`.
    private static func wanted(_ head: HTTPRequestHead) -> [String]? {
        if let name = head.parameter("symbol") { return [PercentText.decoded(name) ?? name] }
        guard let text = head.parameter("symbols").flatMap({ PercentText.decoded($0) }) else { return nil }
        return ByteBuffer(string: text).withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            // A list that cannot be read names a symbol that does not exist.
            return reader.strings(atMost: VenueRequestReader.maximumNames) ?? [""]
        }
    }

    private static func information(_ names: [String]) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("timezone", "UTC")
            out.array("symbols") { out in
                for name in names {
                    out.element { out in
                        out.field("symbol", name)
                        out.field("status", "TRADING")
                        out.field("isSpotTradingAllowed", true)
                    }
                }
            }
        }
    }
}
