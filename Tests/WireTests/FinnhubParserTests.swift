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
}
