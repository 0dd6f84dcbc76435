import Market
import NIOCore
import Testing
import Wire

private enum Targets {
    static let binance = "/api/v3/historicalTrades?symbol=BTCUSDT&fromId=28457&limit=1000"
    static let coinbase = "/products/BTC-USD/trades?after=76&limit=1000"
    static let kraken = "/0/public/Trades?pair=XXBTZUSD&since=1790359840000000000&count=1000"
}

@Suite("Exchanges with the venues' REST services")
struct VenueExchangeTests {
    /// Reads an exchange, and returns its content and each trade as `symbol id price size ns marks`.
    private static func read(_ venue: Venue, _ target: String, _ body: String) -> (FrameContent, [String]) {
        let frame = VenueExchange(target: target, body: ByteBuffer(string: body)).frame
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let content = VenueExchange.read(frame, of: venue, symbols: &symbols, into: &trades)
        let lines = trades.map { trade in
            "\(symbols.name(of: trade.symbol)) \(trade.id.map(String.init) ?? "-") \(trade.price) \(trade.size) "
                + "\(trade.exchangeTime) \(trade.marks == .filled ? "filled" : "\(trade.marks)")"
        }
        return (content, lines)
    }

    @Test("Binance's trades have milliseconds, or microseconds of 16 digits")
    func binance() {
        let body =
            #"[{"id":28457,"price":"4.00000100","qty":"12.00000000","quoteQty":"48.000012","time":1499865549590,"isBuyerMaker":true,"isBestMatch":true},"#
            + #"{"id":28458,"price":"4.1","qty":"1e-3","time":1499865549590123,"new":{"a":[1]}}]"#
        let (content, trades) = Self.read(.binance, Targets.binance, body)
        #expect(content == .trades(skipped: 0))
        #expect(
            trades == [
                "BINANCE:BTCUSDT 28457 4.000001 12 1499865549590000000 filled",
                "BINANCE:BTCUSDT 28458 4.1 0.001 1499865549590123000 filled",
            ]
        )
        #expect(Self.read(.binance, "/api/v3/trades?limit=5&symbol=BTCUSDT", body).1 == trades)
    }

    @Test("Coinbase's trades come newest first and are read in the order of their ids")
    func coinbase() {
        let body =
            #"[{"trade_id":75,"side":"sell","size":"100.00000000","price":"10.00000000","time":"2014-11-07T01:08:43.642366Z"},"#
            + #"{"trade_id":74,"side":"buy","size":"0.01000000","price":"985","time":"2014-11-07T22:19:28.57Z"}]"#
        let (content, trades) = Self.read(.coinbase, Targets.coinbase, body)
        #expect(content == .trades(skipped: 0))
        #expect(
            trades == [
                "COINBASE:BTC-USD 74 985 0.01 1415398768570000000 filled",
                "COINBASE:BTC-USD 75 10 100 1415322523642366000 filled",
            ]
        )
    }

    @Test("Kraken's times are exact to the nanosecond, and its list is under any name but last")
    func kraken() {
        let list =
            #"[["83930.30000","0.00005100",1790359840.9392912,"s","l","",109118758],"#
            + #"["83928.00000","0.00044682",1790359841.138228746,"b","m","",109118759],"#
            + #"["83935.4","1",1790359842,"b","m","",109118760,"more"]]"#
        let expected = [
            "KRAKEN:XXBTZUSD 109118758 83930.3 0.000051 1790359840939291200 filled",
            "KRAKEN:XXBTZUSD 109118759 83928 0.00044682 1790359841138228746 filled",
            "KRAKEN:XXBTZUSD 109118760 83935.4 1 1790359842000000000 filled",
        ]
        for name in ["BTC/USD", "XXBTZUSD"] {
            let body = #"{"error":[],"result":{"\#(name)":\#(list),"last":"1790359841138228746"}}"#
            let (content, trades) = Self.read(.kraken, Targets.kraken, body)
            #expect(content == .trades(skipped: 0))
            #expect(trades == expected)
        }
        let warned = #"{"error":["WGeneral:slow"],"result":{"last":"1","X":\#(list)}}"#
        #expect(Self.read(.kraken, "/0/public/Trades?pair=BTC%2FUSD", warned).1 == expected)
    }

    @Test("a trade is on the tape once for each id, and malformed elements are counted")
    func hostileElements() {
        let good = #"{"id":7,"price":"1","qty":"2","time":1499865549590}"#
        let elements = [
            good, good, "null", "[]", #""x""#, "7", "{}",
            #"{"id":8,"price":"0","qty":"2","time":1499865549590}"#,
            #"{"id":8,"price":1,"qty":"2","time":1499865549590}"#,
            #"{"id":8,"price":"1","qty":"0","time":1499865549590}"#,
            #"{"id":8,"price":"1","qty":"2","time":-1}"#,
            #"{"id":-8,"price":"1","qty":"2","time":1499865549590}"#,
            #"{"id":18446744073709551615,"price":"1","qty":"2","time":1499865549590}"#,
            #"{"id":8.5,"price":"1.1234567890123456789","qty":"2","time":1499865549590}"#,
            #"{"id":6,"price":"1","qty":"2","time":1499865549590}"#,
        ]
        let (content, trades) = Self.read(.binance, Targets.binance, "[\(elements.joined(separator: ","))]")
        #expect(content == .trades(skipped: 12))
        #expect(
            trades == [
                "BINANCE:BTCUSDT 6 1 2 1499865549590000000 filled",
                "BINANCE:BTCUSDT 7 1 2 1499865549590000000 filled",
            ]
        )
        let kraken = #"{"error":[],"result":{"X":[[],["1"],["1","2",1790359840.5,"s","l","",9],7],"last":"1"}}"#
        let read = Self.read(.kraken, Targets.kraken, kraken)
        #expect(read.0 == .trades(skipped: 3))
        #expect(read.1 == ["KRAKEN:XXBTZUSD 9 1 2 1790359840500000000 filled"])
    }

    @Test("an answer brings a thousand trades at most, and the others are counted")
    func huge() {
        let elements = (1...1_500).map { #"{"id":\#($0),"price":"1","qty":"2","time":1499865549590}"# }
        let (content, trades) = Self.read(.binance, Targets.binance, "[\(elements.joined(separator: ","))]")
        #expect(content == .trades(skipped: 500))
        #expect(trades.count == 1_000)
        // What is no trade counts, too.
        let mixed = Self.read(.binance, Targets.binance, "[7,7,\(elements.joined(separator: ","))]")
        #expect(mixed.0 == .trades(skipped: 504) && mixed.1.count == 998)
    }

    @Test(
        "errors, pages of HTML, halves and other exchanges are malformed and leave no trade",
        arguments: [
            (Venue.binance, Targets.binance, #"{"code":-1121,"msg":"Invalid symbol."}"#),
            (.binance, Targets.binance, "<html><body>403</body></html>"),
            (.binance, Targets.binance, ""),
            (.binance, Targets.binance, #"[{"id":7,"price":"1","qty":"2","time":1499865549590}"#),
            (.binance, Targets.binance, #"[{"id":7,"price":"1","qty":"2","time":1499865549590}]]"#),
            (.binance, "/api/v3/exchangeInfo", "[]"), (.binance, "/api/v3/trades", "[]"),
            (.binance, "/api/v3/trades?symbol=", "[]"), (.binance, "", "[]"), (.binance, "x", "[]"),
            (.binance, "/api/v3/trades?symbol=\(String(repeating: "A", count: 3_000))", "[]"),
            (.coinbase, Targets.coinbase, #"{"message":"NotFound"}"#),
            (.coinbase, "/products//trades", "[]"), (.coinbase, "/products/%/trades", "[]"),
            (.kraken, Targets.kraken, #"{"error":["EQuery:Unknown asset pair"],"result":null}"#),
            (.kraken, Targets.kraken, #"{"error":["EGeneral:Too many requests"],"result":{"X":[],"last":"1"}}"#),
            (.kraken, Targets.kraken, #"{"error":[],"result":{"A":[],"B":[],"last":"1"}}"#),
            (.kraken, Targets.kraken, #"{"error":[],"result":{"last":"1"}}"#), (.kraken, Targets.kraken, "[]"),
        ]
    )
    func malformed(venue: Venue, target: String, body: String) {
        let (content, trades) = Self.read(venue, target, body)
        #expect(content == .malformed)
        #expect(trades.isEmpty)
    }

    @Test("a frame without a line end is malformed")
    func noTarget() {
        var symbols = SymbolTable()
        var trades: [Trade] = []
        let frame = ByteBuffer(string: Targets.binance)
        #expect(VenueExchange.read(frame, of: .binance, symbols: &symbols, into: &trades) == .malformed)
    }

    @Test("an answer without trades is read")
    func empty() {
        #expect(Self.read(.binance, Targets.binance, "[]").0 == .trades(skipped: 0))
        #expect(Self.read(.coinbase, Targets.coinbase, " [ ] ").0 == .trades(skipped: 0))
        let kraken = #"{"error":[],"result":{"XXBTZUSD":[],"last":"1"}}"#
        #expect(Self.read(.kraken, Targets.kraken, kraken).0 == .trades(skipped: 0))
    }

    @Test("the service's own words of an error are found, and no words in trades or in HTML")
    func errorText() {
        func text(_ body: String, _ venue: Venue) -> String? {
            VenueExchange.errorText(in: ByteBuffer(string: body), of: venue)
        }
        #expect(text(#"{"code":-1121,"msg":"Invalid symbol."}"#, .binance) == "Invalid symbol.")
        #expect(text(#"{"message":"NotFound"}"#, .coinbase) == "NotFound")
        #expect(text(#"{"error":["EQuery:Unknown asset pair"],"result":null}"#, .kraken) == "EQuery:Unknown asset pair")
        #expect(text(#"{"error":["EA:b","WC:d","EE:f"]}"#, .kraken) == "EA:b, EE:f")
        #expect(text(#"{"error":[],"result":{"X":[],"last":"1"}}"#, .kraken) == nil)
        #expect(text("[]", .binance) == nil)
        #expect(text("<html></html>", .coinbase) == nil)
        #expect(text(#"{"code":-1121,"msg":"Inval"#, .binance) == nil)
        #expect(text(#"{"message":"\#(String(repeating: "x", count: 9_000))"}"#, .coinbase)?.utf8.count == 1_024)
    }

    @Test("a body that is not UTF-8 is no list of trades, even where the bytes stand in an unknown member")
    func invalidUTF8() {
        for (bytes, isList) in [([0xC3, 0xA4], true), ([0xC3], false)] as [([UInt8], Bool)] {
            var body = ByteBuffer(string: #"[{"id":5,"price":"4","qty":"12","time":1723161255342,"note":""#)
            body.writeBytes(bytes)
            body.writeString(#""}]"#)
            var symbols = SymbolTable()
            var trades: [Trade] = []
            let frame = VenueExchange(target: "/api/v3/trades?symbol=A", body: body).frame
            let content = VenueExchange.read(frame, of: .binance, symbols: &symbols, into: &trades)
            #expect(content == (isList ? .trades(skipped: 0) : .malformed) && trades.count == (isList ? 1 : 0))
        }
    }
}
