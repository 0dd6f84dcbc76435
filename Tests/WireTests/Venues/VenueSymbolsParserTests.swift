import Market
import NIOCore
import Testing
import Wire

/// The parsers' memory of names, through changes of the table of symbols.
@Suite struct VenueSymbolsParserTests {
    private static func frame(_ symbol: String) -> String {
        #"{"stream":"x@trade","data":{"e":"trade","E":1723161255343,"s":"\#(symbol)","t":1,"p":"1.00000000","q":"1.00000000","T":1723161255342,"m":true,"M":true}}"#
    }

    @Test("a trade has the right symbol although another table has other numbers")
    func renewal() {
        var parsing = VenueParsing(.binance)
        let names = ["BTCUSDT", "ETHUSDT", "X", "BTCUSDTBTCUSDTBTCUSDT", String(repeating: "L", count: 60), "ETHBTC"]
        for order in [names, names.reversed(), Array(names.dropFirst(2)), ["ETHUSDT", "BTCUSDT"]] {
            parsing.symbols = SymbolTable()
            for name in order + order {
                #expect(parsing.parse(Self.frame(name)).1 == ["BINANCE:\(name) 1 1 1 1723161255342000000"])
            }
            #expect(parsing.symbols.count == Set(order).count)
        }
    }

    @Test("names of every length are told apart")
    func lengths() {
        var parsing = VenueParsing(.binance)
        for round in 0..<2 {
            for length in 1...120 {
                let name = String(repeating: "A", count: length)
                #expect(parsing.parse(Self.frame(name)).1 == ["BINANCE:\(name) 1 1 1 1723161255342000000"], "\(round)")
            }
        }
        #expect(parsing.parse(Self.frame(String(repeating: "A", count: 121))) == (.trades(skipped: 1), []))
    }

    @Test("more names than a table holds are left out and counted, and a new table takes them")
    func tooMany() {
        var parsing = VenueParsing(.binance)
        for number in 0..<SymbolTable.capacity { _ = parsing.parse(Self.frame("S\(number)")) }
        #expect(parsing.parse(Self.frame("LATE")) == (.trades(skipped: 1), []))
        #expect(parsing.symbols.leftOut == 1)
        #expect(parsing.parse(Self.frame("S77")).1 == ["BINANCE:S77 1 1 1 1723161255342000000"])
        parsing.symbols = SymbolTable()
        for name in ["LATE", "S77", "LATE"] {
            #expect(parsing.parse(Self.frame(name)).1 == ["BINANCE:\(name) 1 1 1 1723161255342000000"])
        }
    }
}
