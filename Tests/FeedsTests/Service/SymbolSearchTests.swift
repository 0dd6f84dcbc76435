import NIOCore
import Testing
@testable import Feeds
@testable import Wire

@Suite("Finding symbols by what people type")
struct SymbolSearchTests {
    private static let search = SymbolSearch(
        [
            "BTCUSDT", "BTCEUR", "BTCUSDC", "BCHUSDT", "WBTCUSDT", "ETHBTC", "ETHUSDT", "ETHWUSDT", "STETHETH",
            "SOLUSDT",
            "SOLEUR", "DOGEUSDT", "1000SATSUSDT", "RESOLVUSDT", "ADABTC", "USDCUSDT", "XYZ",
        ].map { ListedSymbol(named: "BINANCE:\($0)", description: "Binance \($0)") }
    )

    private func names(_ text: String, limit: Int = 5) -> [String] {
        Self.search.search(text, limit: limit).symbols.map { String($0.symbol.dropFirst(8)) }
    }

    @Test(
        "exact matches come first, then the coin, beginnings and parts; usual currencies before others",
        arguments: [
            ("btcusdt", ["BTCUSDT", "WBTCUSDT"]), ("BINANCE:BTCEUR", ["BTCEUR"]), ("BTC/EUR", ["BTCEUR"]),
            ("btc", ["BTCUSDT", "BTCUSDC", "BTCEUR", "WBTCUSDT", "ADABTC"]),
            ("eth", ["ETHUSDT", "ETHBTC", "ETHWUSDT", "STETHETH"]),
            ("bitcoin", ["BTCUSDT", "BTCUSDC", "BTCEUR", "BCHUSDT"]), ("Bitcoin Cash", ["BCHUSDT"]),
            ("bitcoin eur", ["BTCEUR"]), ("  SOLANA ", ["SOLUSDT", "SOLEUR"]), ("solan", ["SOLUSDT", "SOLEUR"]),
            ("sol", ["SOLUSDT", "SOLEUR", "RESOLVUSDT"]), ("dogecoin", ["DOGEUSDT"]), ("xyz", ["XYZ"]),
            ("sats", ["1000SATSUSDT"]), ("ethereum", ["ETHUSDT", "ETHBTC"]), ("nothing", []), ("btc nothing", []),
        ]
    )
    func ranked(_ text: String, _ expected: [String]) {
        #expect(self.names(text) == expected)
    }

    @Test("an empty text matches all, usual currencies first, up to the limit")
    func all() {
        #expect(self.names("", limit: 100).count == Self.search.count)
        #expect(self.names("  ", limit: 3) == ["BCHUSDT", "BTCUSDT", "ETHUSDT"])
        #expect(self.names("btc", limit: 0) == [] && self.names("btc", limit: -1) == [])
        #expect(self.names(String(repeating: "x", count: 1_000_000)) == [])
    }

    @Test("all matches are counted, and an exchange in any case of letters leaves out the others")
    func exchanges() {
        let search = SymbolSearch(
            ["BINANCE:BTCUSDT", "BINANCE:ETHBTC", "KRAKEN:BTCUSD"].map { ListedSymbol(named: $0, description: "") }
        )
        let all = search.search("btc", limit: 1)
        #expect(all.symbols.map(\.symbol) == ["BINANCE:BTCUSDT"] && all.matches == 3)
        let one = search.search("btc", exchange: "Kraken", limit: 9)
        #expect(one.symbols.map(\.symbol) == ["KRAKEN:BTCUSD"] && one.matches == 1)
        #expect(search.search("", exchange: "KRAK", limit: 9).matches == 0)
    }

    @Test("the service's list is read with an entry that lacks its exchange, and without malformed entries")
    func list() {
        let text =
            #"[{"description":"Binance LTCBTC","displaySymbol":"LTC/BTC","symbol":"BINANCE:LTCBTC"},{"symbol":"ETHBTC"},"#
            + #"{"symbol":7},{"symbol":""},null,[1],"x",{"displaySymbol":"\#(String(repeating: "y", count: 999))","symbol":"A:B"}]"#
        let list = ListedSymbol.list(ByteBuffer(string: text), exchange: "binance")
        #expect(list?.map(\.symbol) == ["BINANCE:LTCBTC", "BINANCE:ETHBTC", "A:B"])
        #expect(list?.map(\.displaySymbol).prefix(2) == ["LTC/BTC", "ETH/BTC"])
        #expect((list?.last?.displaySymbol.count ?? 1_000) < 100)
        #expect(ListedSymbol.list(ByteBuffer(string: "[]"), exchange: "X") == [])
    }

    @Test(
        "an answer that is not a list of symbols is not read as an empty list",
        arguments: [
            "", "{}", #"{"error":"x"}"#, "<html>", "[", #"[{"symbol":"A"}"#, #"[{"symbol":"A"}] x"#, "[{}]", "[1,2]",
            #"[{"symbol":"A",}]"#, "null", "[" + String(repeating: "[", count: 1_000),
        ]
    )
    func notLists(_ text: String) {
        #expect(ListedSymbol.list(ByteBuffer(string: text), exchange: "X") == nil)
    }

    @Test("headlines are read newest first, and a link that is not a web address is left out")
    func headlines() {
        let text =
            #"[{"category":"crypto","datetime":1700000000,"headline":"Old","id":1,"image":"","related":"","source":"S","#
            + #""summary":"More","url":"https://a/b"},{"datetime":1800000000,"headline":"New","source":"T","url":"javascript:x"},"#
            + #"{"datetime":"x","headline":"no"},{"datetime":99999999999999,"headline":"no"},{"headline":""}]"#
        #expect(
            Headline.list(ByteBuffer(string: text)) == [
                Headline(time: 1_800_000_000_000_000_000, publisher: "T", text: "New", url: ""),
                Headline(
                    id: 1,
                    time: 1_700_000_000_000_000_000,
                    publisher: "S",
                    text: "Old",
                    summary: "More",
                    url: "https://a/b"
                ),
            ]
        )
        #expect(Headline.list(ByteBuffer(string: "[]")) == [])
        #expect(Headline.list(ByteBuffer(string: #"[{"x":1}]"#)) == nil)
        #expect(Headline.list(ByteBuffer(string: #"{"error":"x"}"#)) == nil)
    }

    @Test("of many headlines with long texts a bounded part is kept, the newest")
    func longHeadlines() throws {
        // One character of many scalars is no shorter than as many characters.
        let long = "a" + String(repeating: "\u{301}", count: 2_000)
        let texts = ["headline", "source", "summary"].map { #""\#($0)":"\#(long)""# }.joined(separator: ",")
        let list = (0..<Headline.maximumKept + 10).map { #"{"datetime":\#($0),"url":"https://\#(long)",\#(texts)}"# }
        let kept = try #require(Headline.list(ByteBuffer(string: "[\(list.joined(separator: ","))]")))
        #expect(kept.count == Headline.maximumKept && kept.last?.time == 10_000_000_000)
        #expect(kept.allSatisfy { $0.text.unicodeScalars.count == 512 && $0.summary.unicodeScalars.count == 512 })
        #expect(kept.allSatisfy { $0.publisher.unicodeScalars.count == 64 && $0.url.isEmpty })
    }
}
