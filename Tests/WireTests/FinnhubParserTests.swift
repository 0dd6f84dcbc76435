import Market
import NIOCore
import Testing
import Wire

@Suite struct FinnhubParserTests {
    /// Parses one frame and returns the message with its trades, each as `symbol price size ms`.
    private func parse(_ text: String) -> (FinnhubMessage, [String]) {
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let message = parser.parse(ByteBuffer(string: text), symbols: &symbols, into: &trades)
        let lines = trades.map {
            "\(symbols.name(of: $0.symbol)) \($0.price) \($0.size) \($0.exchangeTime / 1_000_000)"
        }
        return (message, lines)
    }

    @Test("a frame in Finnhub's shape gives its trades, digits unchanged")
    func template() {
        let (message, trades) = self.parse(
            #"{"data":[{"c":null,"p":34727.99,"s":"BINANCE:BTCUSDT","t":1624945862327,"v":0.000004},"#
                + #"{"c":null,"p":26626,"s":"BINANCE:BTCUSDT","t":1624945862327,"v":0.02},"#
                + #"{"c":null,"p":1731.1,"s":"BINANCE:ETHUSDT","t":1696250801782,"v":0}],"type":"trade"}"#
        )
        #expect(message == .trade(count: 3, skipped: 0))
        #expect(
            trades == [
                "BINANCE:BTCUSDT 34727.99 0.000004 1624945862327",
                "BINANCE:BTCUSDT 26626 0.02 1624945862327",
                "BINANCE:ETHUSDT 1731.1 0 1696250801782",
            ]
        )
    }

    @Test("conditions may be null, a list, absent or anything; keys may come in any order")
    func generalShapes() {
        let (message, trades) = self.parse(
            #" { "type" : "trade", "more":{"a":[1,{"b":null}]}, "data" : [ {"v":1e-7,"t":1,"s":"IC MARKETS:1","p":1.50E+2,"c":[]} ,"#
                + #"{"p":7296.89,"s":"A\u0041\ud83d\ude00","t":1575526691134,"v":0.011467},"#
                + #"{"c":["1","24"],"p":2,"p":3,"s":"X","t":5,"v":8060.2}]}"#
        )
        #expect(message == .trade(count: 3, skipped: 0))
        #expect(trades == ["IC MARKETS:1 150 0.0000001 1", "AA😀 7296.89 0.011467 1575526691134", "X 3 8060.2 5"])
    }

    @Test("a malformed element is skipped and counted, its siblings are kept")
    func skipping() {
        let (message, trades) = self.parse(
            #"{"data":[{"p":0,"s":"X","t":5,"v":1},{"p":-1,"s":"X","t":5,"v":1},{"p":1,"s":"X","t":5,"v":-1},"#
                + #"{"p":1,"s":"","t":5,"v":1},{"p":1,"s":"X","t":5.5,"v":1},{"p":1,"s":"X","t":99999999999999,"v":1},"#
                + #"{"p":1234567890123456789,"s":"X","t":5,"v":1},{"p":"1","s":"X","t":5,"v":1},null,[],7,"#
                + #"{"p":1,"s":"X","t":5},{"p":1,"s":"X","t":0,"v":1},{"p":1,"s":"X","t":5,"v":1}],"type":"trade"}"#
        )
        #expect(message == .trade(count: 1, skipped: 13))
        #expect(trades == ["X 1 1 5"])
    }

    @Test("messages that are no trades say what they are")
    func others() {
        #expect(self.parse(#"{"type":"ping"}"#).0 == .ping)
        #expect(
            self.parse(#"{"msg":"Invalid symbol FX:EURUSD","type":"error"}"#).0 == .error("Invalid symbol FX:EURUSD")
        )
        #expect(self.parse(#"{"data":[{"category":"x","url":"y"}],"type":"news"}"#).0 == .news)
        #expect(self.parse(#"{"type":"message"}"#).0 == .unknown(type: "message"))
    }

    @Test("keys and type may be spelled with escapes, and of a key that comes twice the last counts")
    func escapedKeys() {
        let (message, trades) = self.parse(
            #"{"\u0064ata":[{"\u0070":2,"\u0073":"X","t":5,"v":1,"v":"x","v":3}],"type":"ping","ty\u0070e":"tr\u0061de"}"#
        )
        #expect(message == .trade(count: 1, skipped: 0))
        #expect(trades == ["X 2 3 5"])
        let twice = self.parse(
            #"{"data":[{"p":1,"s":"X","t":5,"v":1}],"data":[{"p":2,"s":"X","t":5,"v":1},7],"type":"trade"}"#
        )
        #expect(twice.0 == .trade(count: 1, skipped: 1))
        #expect(twice.1 == ["X 2 1 5"])
    }

    @Test(
        "a broken frame is malformed as a whole and leaves no trade behind",
        arguments: [
            "", "x", "[]", "{}", #"{"type":"trade"}"#, #"{"data":7,"type":"trade"}"#, #"{"data":[],"type":7}"#,
            #"{"data":[{"p":1,"s":"X","t":5,"v":1}],"type":"trade"}x"#, #"{"data":[{"p":1,"s":"X","t":5,"v":1}"#,
            #"{"data":[{"p":1,"s":"X","t":5,"v":1},{"p":01}],"type":"trade"}"#,
            #"{"data":[{"p":1,"s":"X","t":5,"v":1}],"x":nul,"type":"trade"}"#,
        ]
    )
    func malformed(text: String) {
        let (message, trades) = self.parse(text)
        guard case .malformed = message else {
            Issue.record("\(message)")
            return
        }
        #expect(trades.isEmpty)
    }

    @Test("trades of a message that is none are taken back, and what stood before stays")
    func takenBack() {
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let good = #"{"data":[{"c":null,"p":7,"s":"BINANCE:BTCUSDT","t":1721555886208,"v":1}],"type":"trade"}"#
        let news = #"{"data":[{"c":null,"p":8,"s":"BINANCE:BTCUSDT","t":1721555886208,"v":1}],"type":"news"}"#
        for text in [good, news, good + "x"] {
            _ = parser.parse(ByteBuffer(string: text), symbols: &symbols, into: &trades)
        }
        #expect(trades.map(\.price.description) == ["7"])
    }

    @Test(
        "a price or a size that no exchange can mean is malformed, and what is next to it stays",
        arguments: [
            ("1e999", "1", false), ("1e18", "1", false), ("1e17", "1", true), ("1e-30", "1", true),
            ("1e-31", "1", false),
            ("999999999999999999", "1", true), ("1000000000000000000", "1", false), ("1", "1e400", false),
            ("1", "1e18", false), ("1", "100000000000000000", true), ("1", "1e-18", true), ("1", "1e-19", false),
            ("0.0000001234", "12345678901234", true), ("0.0000000000001", "999999999999999", true),
            // Numbers of more than eight characters, and with an exponent.
            ("20461.111e-30", "1", false), ("20461.1111e-20", "1", true), ("1234567.5e13", "1", false),
            ("1", "20461.1111e-30", false), ("1", "1234567.5e13", false), ("61837.6300e-2", "61837.6300e-2", true),
        ]
    )
    func bounds(price: String, size: String, isOne: Bool) {
        let good = #"{"c":null,"p":7,"s":"BINANCE:BTCUSDT","t":1721555886208,"v":1}"#
        let other = good.replacing("\"p\":7", with: "\"p\":\(price)").replacing("\"v\":1", with: "\"v\":\(size)")
        let (message, trades) = self.parse(#"{"data":[\#(good),\#(other),\#(good)],"type":"trade"}"#)
        #expect(message == .trade(count: isOne ? 3 : 2, skipped: isOne ? 0 : 1))
        #expect(trades.count == (isOne ? 3 : 2))
    }

    @Test("no number that the exact shape takes is beyond the bounds")
    func boundsOfTheShape() throws {
        for text in ["999999999999999", "0.0000000000001", "9.9999999999999"] {
            let (message, _) = self.parse(
                #"{"data":[{"c":null,"p":\#(text),"s":"BINANCE:BTCUSDT","t":1721555886208,"v":\#(text)}],"type":"trade"}"#
            )
            #expect(message == .trade(count: 1, skipped: 0))
            let number = try #require(ExactDecimal(text))
            #expect(TradeBounds.canBePrice(number) && TradeBounds.canBeSize(number))
        }
    }

    @Test("an error's text is kept up to its limit")
    func longError() {
        let text = String(repeating: "é", count: 2_000)
        #expect(self.parse(#"{"msg":"\#(text)","type":"error"}"#).0 == .error(String(repeating: "é", count: 512)))
        #expect(self.parse(#"{"msg":7,"type":"error"}"#).0 == .error(""))
    }

    @Test("a parser may change its table of symbols: nothing is taken for another symbol")
    func otherTable() {
        var parser = FinnhubParser()
        let frame = { (symbol: String) in
            ByteBuffer(string: #"{"data":[{"c":null,"p":7,"s":"\#(symbol)","t":1721555886208,"v":1}],"type":"trade"}"#)
        }
        for names in [["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"], ["BINANCE:ETHUSDT", "BINANCE:BTCUSDT"], ["AAPL", "X"]] {
            var symbols = SymbolTable()
            var trades: [Trade] = []
            for name in names { _ = parser.parse(frame(name), symbols: &symbols, into: &trades) }
            #expect(trades.map { symbols.name(of: $0.symbol) } == names)
        }
    }
}
