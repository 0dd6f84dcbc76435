import Market
import Testing
import Wire

/// Comparison of both parsers: the template must give no result that the general parser does not give, and neither may
/// trap.
@Suite struct FinnhubDifferentialTests {
    /// A trade with its symbol's name. Tables that saw symbols in another order have other numbers for them.
    private struct NamedTrade: Equatable {
        var price: ExactDecimal
        var size: ExactDecimal
        var time: Int64
        var symbol: String

        init(_ trade: Trade, _ symbols: SymbolTable) {
            self.price = trade.price
            self.size = trade.size
            self.time = trade.exchangeTime
            self.symbol = symbols.name(of: trade.symbol)
        }
    }

    /// Both parsers, each with its own table, which persists over many frames.
    private struct Both {
        var parser = FinnhubParser()
        var fast = SymbolTable()
        var general = SymbolTable()

        init() {
            // Names that only escapes can express must not be recognised in plain bytes.
            for name in ["AB\"DEFGHIJ", "AB\\uDEFGHIJ", "AB\nDEFGHIJ", "BINANCE:ÄÖÜ"] {
                _ = self.fast.intern(name)
                _ = self.general.intern(name)
            }
        }

        /// Parses `frame` in both ways, from an allocation of exactly its size, and returns whether the results agree.
        mutating func agree(on frame: [UInt8]) -> Bool {
            let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: frame.count, alignment: 1)
            defer { exact.deallocate() }
            exact.copyBytes(from: frame)
            let bytes = UnsafeRawBufferPointer(exact)
            var fastTrades: [Trade] = []
            var generalTrades: [Trade] = []
            let one = self.parser.parse(bytes, symbols: &self.fast, into: &fastTrades)
            let other = FinnhubParser.parseGenerally(bytes, symbols: &self.general, into: &generalTrades)
            let left = fastTrades.map { NamedTrade($0, self.fast) }
            let right = generalTrades.map { NamedTrade($0, self.general) }
            return one == other && left == right
        }
    }

    /// Frames as the service sends them, and some near misses.
    private static let seeds: [String] = [
        #"{"data":[{"c":null,"p":66972.77,"s":"BINANCE:BTCUSDT","t":1721555886208,"v":0.01559},{"c":null,"p":66972.77,"s":"BINANCE:ETHUSDT","t":1721555886208,"v":0.00008},{"c":null,"p":26626,"s":"BINANCE:BTCUSDT","t":1721555886208,"v":0}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":1731.1,"s":"AAPL","t":1721555886208,"v":1700}],"type":"trade"}"#,
        #"{"data":[{"c":["1","12"],"p":164.0601,"s":"AAPL","t":1680286537580,"v":5}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":0.00001234,"s":"BINANCE:1000SHIBUSDT","t":1680286537580,"v":123456789.5}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":9.5e-7,"s":"BINANCE:AVERYLONGSYMBOLNAMEHERE","t":1680286537580,"v":1e21}],"type":"trade"}"#,
        #"{"data":[{"p":7296.89,"s":"BINANCE:BTCUSDT","t":1575526691134,"v":0.011467}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":12345678,"s":"AB\"DEFGHIJ","t":1680286537580,"v":12345678.12345678}],"type":"trade"}"#,
        #"{"data":[{"c":null,"p":12345.67,"s":"AB\\uDEFGHIJ","t":1680286537580,"v":1234567.8}],"type":"trade"}"#,
        #"{"type":"ping"}"#, #"{"msg":"Invalid symbol","type":"error"}"#,
    ]

    @Test("template and general parser agree on mutated frames")
    func mutations() {
        var random = SeededGenerator(seed: 0x7469_636B)
        var both = Both()
        let alphabet = Array("0123456789.,:eE+-\"\\{}[]nulctpsv /AZ\u{1}\u{7f}".utf8) + [0x80, 0xC3, 0xFF]
        var read = 0
        for round in 0..<120_000 {
            var frame = Array(Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &random)].utf8)
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
            read += 1
        }
        #expect(read == 120_000)
    }

    @Test("template and general parser agree on numbers of every shape")
    func numbers() {
        var random = SeededGenerator(seed: 0x6E75_6D62)
        var both = Both()
        let digits = Array("0123456789".utf8)
        func number() -> String {
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                text.append(digits.randomElement(using: &random) ?? 48)
            }
            if Bool.random(using: &random) {
                text.insert(UInt8(ascii: "."), at: Int.random(in: 0...text.count, using: &random))
            }
            if UInt8.random(in: 0..<8, using: &random) == 0 { text += Array("0000".utf8) }
            return String(decoding: text, as: UTF8.self)
        }
        for _ in 0..<60_000 {
            let frame =
                #"{"data":[{"c":null,"p":\#(number()),"s":"BINANCE:BTCUSDT","t":1721555886208,"v":\#(number())}],"type":"trade"}"#
            guard both.agree(on: Array(frame.utf8)) else {
                Issue.record("\(frame)")
                return
            }
        }
    }

    @Test("a frame cut at any byte is read without touching what lies behind it")
    func truncations() {
        var both = Both()
        for seed in Self.seeds {
            let frame = Array(seed.utf8)
            for length in 0...frame.count {
                let isAgreed = both.agree(on: Array(frame[..<length]))
                #expect(isAgreed, "\(seed) cut at \(length)")
            }
        }
    }

    @Test("random bytes are no trap")
    func noise() {
        var random = SeededGenerator(seed: 0x6E6F_6973)
        var both = Both()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<96, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let isAgreed = both.agree(on: bytes)
            #expect(isAgreed, "\(bytes)")
        }
    }
}
