import Market
import NIOCore
import Testing
import Wire

/// Trades and answers in the venues' own forms, and back through their parsers.
@Suite("Encoders of the venues' frames")
struct VenueEncoderTests {
    private static let time: Int64 = 1_787_628_957_198_335_000

    private static func trade(
        price: (Int64, Int) = (8_374_430, -2),
        size: (Int64, Int) = (4_478, -7),
        time: Int64 = Self.time,
        id: UInt64? = 1_081_862_675
    ) throws -> Trade {
        Trade(
            price: try #require(ExactDecimal(significand: price.0, exponent: price.1)),
            size: try #require(ExactDecimal(significand: size.0, exponent: size.1)),
            exchangeTime: time,
            symbol: SymbolID(index: 0),
            id: id
        )
    }

    private struct NameRefused: Error {}

    private static func table(_ name: String) throws -> SymbolTable {
        var symbols = SymbolTable()
        guard symbols.intern(name) != nil else { throw NameRefused() }
        return symbols
    }

    @Test("Binance's trade has eight decimals, milliseconds and the stream in lower case")
    func binance() throws {
        let symbols = try Self.table("BINANCE:BTCUSDT")
        let frame = BinanceEncoder.trade(try Self.trade(), symbols: symbols)
        #expect(
            String(buffer: frame)
                == #"{"stream":"btcusdt@trade","data":{"e":"trade","E":1787628957198,"s":"BTCUSDT","t":1081862675,"#
                + #""p":"83744.30000000","q":"0.00044780","T":1787628957198,"m":true,"M":true}}"#
        )
        let raw = BinanceEncoder.raw(frame)
        #expect(raw == BinanceEncoder.trade(try Self.trade(), symbols: symbols, isCombined: false))
        #expect(BinanceEncoder.raw(raw) == raw)
        #expect(BinanceEncoder.combined(raw, stream: "btcusdt@trade") == frame)
        #expect(BinanceEncoder.combined(frame, stream: "x") == frame)
    }

    @Test("Coinbase's match has microseconds and the digits as they are")
    func coinbase() throws {
        let symbols = try Self.table("COINBASE:BTC-USD")
        let text = String(buffer: CoinbaseEncoder.match(try Self.trade(), symbols: symbols))
        #expect(text.hasPrefix(#"{"type":"match","trade_id":1081862675,"maker_order_id":"00000000-0000-4000-8000-"#))
        #expect(
            text.hasSuffix(
                #""side":"sell","size":"0.0004478","price":"83744.3","product_id":"BTC-USD","sequence":7573038725,"#
                    + #""time":"2026-08-25T03:35:57.198335Z"}"#
            )
        )
        let last = String(buffer: CoinbaseEncoder.match(try Self.trade(), as: .last, symbols: symbols))
        #expect(last.hasPrefix(#"{"type":"last_match","#) && last.utf8.count == text.utf8.count + 5)
    }

    @Test("Kraken's trade has JSON numbers, and a snapshot may be empty")
    func kraken() throws {
        let symbols = try Self.table("KRAKEN:XXBTZUSD")
        let frame = KrakenEncoder.trades([try Self.trade()], symbols: symbols, pair: { _ in "BTC/USD" })
        #expect(
            String(buffer: frame)
                == #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":83744.3,"#
                + #""qty":0.00044780,"ord_type":"limit","trade_id":1081862675,"timestamp":"2026-08-25T03:35:57.198335Z"}]}"#
        )
        let none = KrakenEncoder.trades([], as: .snapshot, symbols: symbols, pair: { $0 })
        #expect(String(buffer: none) == #"{"channel":"trade","type":"snapshot","data":[]}"#)
    }

    @Test("numbers of any size keep all of their digits")
    func digits() throws {
        let symbols = try Self.table("BINANCE:BTCUSDT")
        func price(_ significand: Int64, _ exponent: Int) throws -> Substring {
            let trade = try Self.trade(price: (significand, exponent))
            let text = String(buffer: BinanceEncoder.trade(trade, symbols: symbols))
            let tail = text[try #require(text.firstRange(of: #""p":""#)).upperBound...]
            return tail.prefix { $0 != "\"" }
        }
        #expect(try price(1, 0) == "1.00000000")
        #expect(try price(0, 0) == "0.00000000")
        #expect(try price(7, 3) == "7000.00000000")
        #expect(try price(999_999_999_999_999_999, -8) == "9999999999.99999999")
        #expect(try price(123_456_789_012_345_678, -12) == "123456.789012345678")
        #expect(try price(15, -300) == "1.5e-299")
        #expect(try price(15, 300) == "1.5e301")
    }

    @Test("times before 1970 and at the ends of the clock are written without a trap")
    func times() throws {
        let symbols = try Self.table("COINBASE:BTC-USD")
        func time(_ nanoseconds: Int64) throws -> Bool {
            let text = String(buffer: CoinbaseEncoder.match(try Self.trade(time: nanoseconds), symbols: symbols))
            return text.hasSuffix(#"Z"}"#)
        }
        #expect(try time(.min) && time(.max) && time(-1))
        let early = String(buffer: CoinbaseEncoder.match(try Self.trade(time: -1_000), symbols: symbols))
        #expect(early.hasSuffix(#""time":"1969-12-31T23:59:59.999999Z"}"#))
    }

    @Test("a frame of Kraken is cut to some pairs, whose elements stay as they were")
    func cut() {
        let elements = [
            #"{"symbol":"BTC/USD","price":83744.30}"#, #"{"price":1e-7,"symbol":"ETH/USD"}"#, #"{"symbol":7}"#, "3",
        ]
        let frame = ByteBuffer(
            string: #"{"channel":"trade","type":"snapshot","data":[\#(elements.joined(separator: ","))]}"#
        )
        #expect(
            KrakenEncoder.cut(frame) { $0 == "ETH/USD" }.map { String(buffer: $0) }
                == #"{"channel":"trade","type":"snapshot","data":[\#(elements[1])]}"#
        )
        #expect(KrakenEncoder.cut(frame) { _ in false } == nil)
        for text in ["", "{", #"{"data":[1,"#, #"{"data":7}"#, #"{"type":7,"data":[]}"#, "[]"] {
            #expect(KrakenEncoder.cut(ByteBuffer(string: text)) { _ in true } == nil)
        }
    }

    @Test("each venue's parser reads the trade back with its id, its digits and its time", arguments: Venue.allCases)
    func roundTrip(_ venue: Venue) throws {
        let native = venue == .coinbase ? "BTC-USD" : venue == .kraken ? "BTC/USD" : "BTCUSDT"
        let symbols = try Self.table(venue.symbol(of: native))
        let trade = try Self.trade(time: 1_787_628_957_198_000_000)
        let frame =
            switch venue {
            case .binance: BinanceEncoder.trade(trade, symbols: symbols)
            case .coinbase: CoinbaseEncoder.match(trade, symbols: symbols)
            case .kraken: KrakenEncoder.trades([trade], symbols: symbols, pair: { _ in native })
            }
        var read = SymbolTable()
        var trades: [Trade] = []
        var reader = FrameReader()
        #expect(reader.read(frame, of: venue.dialect, symbols: &read, into: &trades) == .trades(skipped: 0))
        #expect(trades == [trade] && read.names == symbols.names)
    }

    @Test("answers and signs of life are understood by the venues' parsers")
    func answers() {
        var symbols = SymbolTable()
        var trades: [Trade] = []
        func parse(_ frame: ByteBuffer, _ venue: Venue) -> VenueMessage {
            var parser = VenueParser(venue)
            return parser.parse(frame, symbols: &symbols, into: &trades)
        }
        #expect(
            parse(BinanceEncoder.acknowledgement(id: ByteBuffer(string: "7")), .binance) == .acknowledged(request: 7)
        )
        #expect(parse(BinanceEncoder.serverShutdown(at: 1_000_000), .binance) == .closing)
        #expect(parse(BinanceEncoder.error(code: 2, "no"), .binance) == .error("no"))
        let channels = [CoinbaseEncoder.Channel(name: "matches", products: ["BTC-USD"])]
        #expect(parse(CoinbaseEncoder.subscriptions(channels), .coinbase) == .subscribed(["COINBASE:BTC-USD"]))
        #expect(
            parse(CoinbaseEncoder.heartbeat(product: "BTC-USD", newest: 5, at: 0), .coinbase)
                == .heartbeat(symbol: "COINBASE:BTC-USD", newest: 5)
        )
        #expect(
            parse(CoinbaseEncoder.heartbeat(product: "BTC-USD", newest: nil, at: 0), .coinbase)
                == .heartbeat(symbol: "COINBASE:BTC-USD", newest: nil)
        )
        #expect(
            parse(KrakenAnswerEncoder.done("subscribe", pair: "BTC/USD", snapshot: true, request: 1, at: 0), .kraken)
                == .subscribed(["KRAKEN:XXBTZUSD"])
        )
        #expect(parse(KrakenAnswerEncoder.heartbeat, .kraken) == .alive)
        #expect(parse(KrakenAnswerEncoder.pong(request: 1, at: 0), .kraken) == .alive)
        #expect(parse(KrakenAnswerEncoder.status(connection: .max), .kraken) == .service(VenueServiceState()))
        let announced =
            "Kraken has announced maintenance (WebSocket) from 1970-01-01 00:00 UTC: WebSocket API maintenance"
        #expect(
            parse(KrakenAnswerEncoder.status(connection: 1, maintenance: 1_000_000_000), .kraken)
                == .service(VenueServiceState(text: announced))
        )
        let refusal = KrakenAnswerEncoder.refusal("no", method: "subscribe", pair: "SOL/USD", request: 1, at: 0)
        #expect(parse(refusal, .kraken) == .refused(symbol: "KRAKEN:SOLUSD", text: "no"))
        #expect(trades.isEmpty)
    }
}
