import Market
import Testing

@Suite("What a symbol may be")
struct SymbolNameTests {
    @Test(
        "whatever a venue may call one goes as it is",
        arguments: [
            "BINANCE:BTCUSDT", "AAPL", "OANDA:EUR_USD", "IC MARKETS:1", "X:ÄÖ", "X:日本", "X:e\u{301}", "a\"b\\c", "*",
            "%",
            String(repeating: "A", count: 64),
        ]
    )
    func taken(name: String) { #expect(SymbolName.fault(in: name) == nil) }

    @Test(
        "what no person means and no screen shows is refused, and said",
        arguments: [
            ("", "is empty"), (" A:B", "begins or ends with a space"), ("A:B\u{A0}", "begins or ends with a space"),
            ("A:B\u{3000}", "begins or ends with a space"), ("A\u{1B}[2J", "has a control character (U+001B)"),
            ("A\tB", "has a control character (U+0009)"), ("A:B\r\n", "has a control character (U+000D)"),
            ("A\u{7F}", "has a control character (U+007F)"), ("A\u{9B}2J", "has a control character (U+009B)"),
            ("A\u{2028}B", "has a control character (U+2028)"),
            ("A\u{200B}B", "has an invisible character (U+200B)"),
            ("\u{FEFF}A", "has an invisible character (U+FEFF)"),
            ("A\u{202E}B", "has an invisible character (U+202E)"),
            ("A\u{2066}B", "has an invisible character (U+2066)"),
            ("A\u{200F}B", "has an invisible character (U+200F)"),
            ("A\u{3164}B", "has an invisible character (U+3164)"),
            ("A\u{FFFD}", "is not UTF-8"), (String(repeating: "A", count: 65), "is longer than 64 bytes"),
            (String(repeating: "Ä", count: 33), "is longer than 64 bytes"),
        ]
    )
    func refused(name: String, words: String) {
        #expect(SymbolName.fault(in: name)?.words == words)
        #expect(!SymbolName.isValid(name))
    }

    @Test(
        "a symbol's name without its exchange begins after the first colon, and is never empty",
        arguments: [
            ("BINANCE:BTCUSDT", "BTCUSDT"), ("IC MARKETS:1", "1"), ("AAPL", "AAPL"), ("A:B:C", "B:C"), (":B", "B"),
            (":B:C", "B:C"), ("A:", "A:"), (":", ":"), ("A::", ":"), ("", ""),
        ]
    )
    func withoutExchange(symbol: String, name: String) { #expect(SymbolName.withoutExchange(symbol) == name) }

    @Test("a rule for alerts is about a symbol that may be one, inner blanks and all")
    func alertRules() throws {
        #expect(try AlertRule("IC MARKETS:1 above 2").subject == .symbol("IC MARKETS:1"))
        for name in ["A\u{200B}B", "A\u{202E}B", "A\u{9B}B", String(repeating: "X", count: 65)] {
            #expect(throws: AlertRule.ParseError.self) { try AlertRule("\(name) above 2") }
        }
    }
}

@Suite("Foreign text as a person sees it")
struct PrintableTextTests {
    @Test("nothing that a terminal obeys, that ends a line or that is not seen is left")
    func line() {
        #expect(PrintableText.line("plain — ÄÖ 日本 €") == "plain — ÄÖ 日本 €")
        #expect(PrintableText.line("a\u{1B}[31m\r\nb\u{7F}") == "a␛[31m␍␊b␡")
        #expect(
            PrintableText.line("\u{9B}31m\u{85}\u{202E}x\u{2028}\u{200B}\u{E0041}")
                == "\u{FFFD}31m\u{FFFD}\u{FFFD}x\u{FFFD}\u{FFFD}\u{FFFD}"
        )
        #expect(PrintableText.line("a\u{A0}b\u{200D}c") == "a bc")
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value), let form = PrintableText.form(of: scalar) else { continue }
            #expect(PrintableText.form(of: form) == form)
        }
    }

    @Test("a limit counts what is shown")
    func limit() {
        #expect(PrintableText.line("abcdef", limit: 3) == "abc")
        #expect(PrintableText.line("a\u{200D}b\u{1B}def", limit: 3) == "ab␛")
    }
}

@Suite("What a symbol was meant to be")
struct SymbolHintTests {
    @Test(
        "is guessed from its name alone",
        arguments: [
            ("BINANC:BTCUSDT", "BINANCE:BTCUSDT"), ("binance:btcusdt", "BINANCE:BTCUSDT"),
            ("BTCUSDT", "BINANCE:BTCUSDT"),
            ("btc-usd", "COINBASE:BTC-USD"), ("COINBASE:BTCUSD", "COINBASE:BTC-USD"),
            ("BINANCE:BTC/USDT", "BINANCE:BTCUSDT"), ("KRAKN:XXBTZUSD", "KRAKEN:XXBTZUSD"),
        ]
    )
    func meant(symbol: String, meant: String) { #expect(SymbolHint.meant(by: symbol) == meant) }

    @Test(
        "nothing is guessed where the name gives no reason",
        arguments: ["AAPL", "BINANCE:BTCUSDT", "NEW:COIN", "X:", ""]
    )
    func none(symbol: String) { #expect(SymbolHint.meant(by: symbol) == nil) }
}
