import Market
import NIOCore
import Testing
import Wire

/// Answers of the REST services in the venues' own forms, back through their readers, and damaged in every way.
@Suite("Lists of trades of the venues' REST services")
struct TradeListTests {
    private static func decimal(_ text: String) throws -> ExactDecimal { try #require(ExactDecimal(text)) }

    /// Three trades: round ones, one with many digits, and one whose time has microseconds.
    private static func trades() throws -> [Trade] {
        let number = SymbolID(index: 0)
        let time: Int64 = 1_787_628_957_198_000_000
        return [
            Trade(price: try decimal("83744.3"), size: try decimal("2"), exchangeTime: time, symbol: number, id: 41),
            Trade(
                price: try decimal("0.0000123456"),
                size: try decimal("0.000000000123"),
                exchangeTime: time + 1_000_000,
                symbol: number,
                id: 42
            ),
            Trade(
                price: try decimal("100"),
                size: try decimal("0.00044780"),
                exchangeTime: time + 1_335_000,
                symbol: number,
                id: 43
            ),
        ]
    }

    private static func exchange(_ venue: Venue, _ trades: [Trade]) -> VenueExchange {
        switch venue {
        case .binance:
            VenueExchange(target: "/api/v3/trades?symbol=BTCUSDT", body: BinanceTradeList.encode(trades))
        case .coinbase:
            VenueExchange(target: "/products/BTC-USD/trades", body: CoinbaseTradeList.encode(trades))
        case .kraken:
            VenueExchange(
                target: "/0/public/Trades?pair=XXBTZUSD",
                body: KrakenTradeList.encode(trades, pair: "XXBTZUSD", last: trades.last?.exchangeTime ?? 0)
            )
        }
    }

    @Test("each venue's list has its digits, order and times")
    func forms() throws {
        let trades = try Self.trades()
        #expect(
            String(buffer: BinanceTradeList.encode(trades[..<1]))
                == #"[{"id":41,"price":"83744.30000000","qty":"2.00000000","quoteQty":"167488.6","time":1787628957198,"#
                + #""isBuyerMaker":true,"isBestMatch":true}]"#
        )
        #expect(String(buffer: BinanceTradeList.encode(trades)).contains(#""time":1787628957199335,"#))
        #expect(
            String(buffer: CoinbaseTradeList.encode(trades[1...]))
                == #"[{"trade_id":43,"side":"sell","size":"0.00044780","price":"100.00000000","#
                + #""time":"2026-08-25T03:35:57.199335Z"},{"trade_id":42,"side":"sell","size":"0.000000000123","#
                + #""price":"0.0000123456","time":"2026-08-25T03:35:57.199000Z"}]"#
        )
        #expect(
            String(buffer: KrakenTradeList.encode(trades[..<2], pair: "BTC/USD", last: 7))
                == #"{"error":[],"result":{"BTC/USD":[["83744.30000","2.00000000",1787628957.1980000,"b","l","",41],"#
                + #"["0.0000123456","0.000000000123",1787628957.1990000,"b","l","",42]],"last":"7"}}"#
        )
        #expect(
            String(buffer: KrakenTradeList.error("EQuery:Unknown asset pair"))
                == #"{"error":["EQuery:Unknown asset pair"],"result":null}"#
        )
    }

    @Test("a list that was written is read without a change", arguments: Venue.allCases)
    func again(venue: Venue) throws {
        let trades = try Self.trades()
        var symbols = SymbolTable()
        var read: [Trade] = []
        let frame = Self.exchange(venue, trades).frame
        #expect(VenueExchange.read(frame, of: venue, symbols: &symbols, into: &read) == .trades(skipped: 0))
        #expect(read.map { $0.marks } == [.filled, .filled, .filled])
        #expect(read.count == 3 && zip(read, trades).allSatisfy { $0.hasSameContent(by: $1) })
    }

    @Test("an answer cut at any byte is malformed", arguments: Venue.allCases)
    func cut(venue: Venue) throws {
        let frame = Self.exchange(venue, try Self.trades()).frame
        for length in 0..<frame.readableBytes {
            // An allocation of exactly the size, so that a read behind the end is found by a sanitizer.
            let part = ByteBuffer(bytes: frame.readableBytesView.prefix(length))
            var symbols = SymbolTable()
            var trades: [Trade] = []
            #expect(VenueExchange.read(part, of: venue, symbols: &symbols, into: &trades) == .malformed)
            #expect(trades.isEmpty)
        }
    }

    @Test(
        "damaged answers give only trades in order that could be real, and garbage gives none",
        arguments: Venue.allCases
    )
    func mutations(venue: Venue) throws {
        let seed = Array(Self.exchange(venue, try Self.trades()).frame.readableBytesView)
        var random = SeededGenerator(seed: 0x5245_5354)
        let alphabet = Array("0123456789.,:eE+-\"\\{}[]nulctpsTZmMX /A\u{1}\u{7f}\n?&=%".utf8) + [0x80, 0xC3, 0xFF]
        for round in 0..<10_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let byte = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                switch UInt8.random(in: 0..<5, using: &random) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                case 2: bytes.remove(at: place)
                case 3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                default:
                    let end = min(bytes.count, place + Int.random(in: 1..<60, using: &random))
                    bytes.insert(contentsOf: bytes[place..<end], at: place)
                }
            }
            Self.check(bytes, venue, "round \(round)")
        }
        for round in 0..<3_000 {
            let garbage = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            Self.check(garbage, venue, "garbage \(round)")
        }
    }

    private static func check(_ bytes: [UInt8], _ venue: Venue, _ what: String) {
        let frame = ByteBuffer(bytes: bytes)
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let content = VenueExchange.read(frame, of: venue, symbols: &symbols, into: &trades)
        _ = VenueExchange.errorText(in: frame, of: venue)
        let ids = trades.compactMap(\.id)
        let isSound =
            ids.count == trades.count && zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
            && trades.allSatisfy {
                $0.isFilled && $0.exchangeTime > 0 && TradeBounds.canBePrice($0.price) && TradeBounds.canBeSize($0.size)
            }
        if !isSound || (content == .malformed && !trades.isEmpty) {
            Issue.record("\(what): \(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
