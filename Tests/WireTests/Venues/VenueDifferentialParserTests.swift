import Market
import NIOCore
import Testing
import Wire

/// Comparison of both parsers of each venue: the template must give no result that the general parser does not give,
/// and neither may trap.
@Suite struct VenueDifferentialParserTests {
    /// Both parsers, each with its own table, which persists over many frames.
    private struct Both {
        let venue: Venue
        var parser: VenueParser
        var fast = SymbolTable()
        var general = SymbolTable()

        init(_ venue: Venue) {
            self.venue = venue
            self.parser = VenueParser(venue)
        }

        /// Parses `frame` in both ways, from an allocation of exactly its size, and returns whether the results agree.
        mutating func agree(on frame: [UInt8]) -> Bool {
            let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: frame.count, alignment: 1)
            defer { exact.deallocate() }
            exact.copyBytes(from: frame)
            let bytes = UnsafeRawBufferPointer(exact)
            // A new tape has a new table, in which the numbers mean other symbols.
            if self.fast.count > 40 {
                self.fast = SymbolTable()
                self.general = SymbolTable()
            }
            var fastTrades: [Trade] = []
            var generalTrades: [Trade] = []
            let one = self.parser.parse(bytes, symbols: &self.fast, into: &fastTrades)
            let other = VenueParser.parseGenerally(bytes, of: self.venue, symbols: &self.general, into: &generalTrades)
            return one == other && Self.named(fastTrades, self.fast) == Self.named(generalTrades, self.general)
        }

        /// Tables that saw symbols in another order have other numbers for them.
        private static func named(_ trades: [Trade], _ symbols: SymbolTable) -> [String] {
            trades.map {
                "\(symbols.name(of: $0.symbol)) \($0.id ?? 0) \($0.price) \($0.size) \($0.exchangeTime) \($0.marks.rawValue)"
            }
        }
    }

    private static let seeds: [Venue: [String]] = [
        .binance: [
            #"{"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":3735683259,"p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}}"#,
            #"{"stream":"1000shibusdt@trade","data":{"e":"trade","E":1723161255343,"s":"1000SHIBUSDT","t":12345678,"p":"100.00000000","q":"12345678.12345678","T":1723161255342,"m":false,"M":false}}"#,
            #"{"e":"trade","E":1723161255343,"s":"X","t":0,"p":"1","q":"1.5","T":1723161255342,"m":true,"M":true}"#,
            #"{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":1770123456789}}"#,
        ],
        .coinbase: [
            #"{"type":"match","trade_id":1081862675,"maker_order_id":"f07e510f-4edf-469d-b844-4f670f1e93f1","taker_order_id":"e6f50944-3e2a-439e-ae49-308300ba8296","side":"sell","size":"0.00000001","price":"80691.53","product_id":"BTC-USD","sequence":134905860111,"time":"2026-08-25T03:35:57.198335Z"}"#,
            #"{"type":"last_match","trade_id":7,"maker_order_id":"2a0da34e-61f7-4c36-88e5-c9dd15927b16","taker_order_id":"3c82abaa-c01e-4608-be59-6a1e69742891","side":"buy","size":"985","price":"0.00001305","product_id":"SKL-BTC","sequence":1,"time":"2024-02-29T23:59:59.999999Z"}"#,
            #"{"type":"heartbeat","sequence":90,"last_trade_id":20,"product_id":"BTC-USD","time":"2014-11-07T08:19:28.464459Z"}"#,
        ],
        .kraken: [
            #"{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":83744.3,"qty":0.00044780,"ord_type":"limit","trade_id":109116693,"timestamp":"2026-09-25T17:48:26.844359Z"}]}"#,
            #"{"channel":"trade","type":"snapshot","data":[{"symbol":"SOL/USD","side":"sell","price":142,"qty":12345678.5,"ord_type":"market","trade_id":1,"timestamp":"2026-09-25T17:48:26.844359Z"},{"symbol":"DOGE/BTC","side":"buy","price":0.00000199,"qty":1234.5678901,"ord_type":"limit","trade_id":99999999,"timestamp":"2026-09-26T00:00:00.000000Z"}]}"#,
        ],
    ]

    @Test("template and general parser agree on mutated frames", arguments: Venue.allCases)
    func mutations(venue: Venue) throws {
        let seeds = try #require(Self.seeds[venue])
        var random = SeededGenerator(seed: 0x7665_6E75)
        var both = Both(venue)
        let alphabet = Array("0123456789.,:eE+-\"\\{}[]nulctpsTZmMX /A\u{1}\u{7f}".utf8) + [0x80, 0xC3, 0xFF]
        for round in 0..<50_000 {
            var frame = Array(seeds[Int.random(in: 0..<seeds.count, using: &random)].utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) where !frame.isEmpty {
                let place = Int.random(in: 0..<frame.count, using: &random)
                let byte = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                switch UInt8.random(in: 0..<6, using: &random) {
                case 0: frame[place] = byte
                case 1: frame.insert(byte, at: place)
                case 2: frame.remove(at: place)
                case 3: frame[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 4: frame.removeLast(frame.count - place)
                default:
                    let end = min(frame.count, place + Int.random(in: 1..<40, using: &random))
                    frame.insert(contentsOf: frame[place..<end], at: place)
                }
            }
            guard both.agree(on: frame) else {
                Issue.record("round \(round): \(String(decoding: frame, as: UTF8.self))")
                return
            }
        }
    }

    @Test("template and general parser agree on numbers of every shape", arguments: Venue.allCases)
    func numbers(venue: Venue) throws {
        let seeds = try #require(Self.seeds[venue])
        var random = SeededGenerator(seed: 0x6E75_6D62)
        var both = Both(venue)
        let old: [(String, String)] = [
            (#""p":"61837.63000000""#, #""p":"N""#), (#""q":"0.02000000""#, #""q":"N""#),
            (#""t":3735683259"#, #""t":N"#),
            (#""size":"0.00000001""#, #""size":"N""#), (#""price":"80691.53""#, #""price":"N""#),
            (#""trade_id":1081862675"#, #""trade_id":N"#), (#""price":83744.3"#, #""price":N"#),
            (#""qty":0.00044780"#, #""qty":N"#),
            (#""trade_id":109116693"#, #""trade_id":N"#), (#""sequence":134905860111"#, #""sequence":N"#),
        ]
        let frames = old.filter { seeds[0].contains($0.0) }.map { seeds[0].replacing($0.0, with: $0.1) }
        for _ in 0..<30_000 {
            var text = (0..<Int.random(in: 0...18, using: &random)).map { _ in
                Character(String(Int.random(in: 0...9, using: &random)))
            }
            if Bool.random(using: &random) { text.insert(".", at: Int.random(in: 0...text.count, using: &random)) }
            if UInt8.random(in: 0..<8, using: &random) == 0 { text += "0000" }
            let frame = frames[Int.random(in: 0..<frames.count, using: &random)].replacing("N", with: String(text))
            guard both.agree(on: Array(frame.utf8)) else {
                Issue.record("\(frame)")
                return
            }
        }
    }

    @Test("a frame cut at any byte is read without touching what lies behind it", arguments: Venue.allCases)
    func truncations(venue: Venue) throws {
        var both = Both(venue)
        for seed in try #require(Self.seeds[venue]) {
            let frame = Array(seed.utf8)
            for length in 0...frame.count {
                let isAgreed = both.agree(on: Array(frame[..<length]))
                #expect(isAgreed, "\(seed) cut at \(length)")
            }
        }
    }
}
