import Market
import Testing

@Suite("Rules of alerts as text")
struct AlertRuleTests {
    @Test(
        "a rule reads as it is meant, and writes itself so that it reads the same again",
        arguments: [
            ("BINANCE:BTCUSDT above 60000", "BINANCE:BTCUSDT above 60000"),
            ("  BTCUSDT   BELOW  59_000.50 ", "BTCUSDT below 59000.5"),
            ("BTCUSDT crosses 6e4", "BTCUSDT crosses 60000"),
            ("X below -1.25 hysteresis 0.5", "X below -1.25 hysteresis 0.5"),
            ("IC MARKETS:1 rises by 0.5% within 90s", "IC MARKETS:1 rises 0.5% in 90s"),
            ("* moves 2% in 5m", "* moves 2% in 5m"),
            ("* falls 1.50% in 1.5h", "* falls 1.5% in 90m"),
            ("X New High", "X new high"),
            ("X new low hysteresis 1% once", "X new low hysteresis 1% once"),
            ("X stale", "X stale"),
            ("X stale for 45s cooldown 0", "X stale for 45s cooldown 0"),
            ("feed stale 2m", "feed stale for 2m"),
            ("feed back after 2m once", "feed back after 2m once"),
            (
                "X above 1 once quiet 22:00-7:00 cooldown 300s hysteresis 0.1%",
                "X above 1 hysteresis 0.1% cooldown 5m quiet 22:00-07:00 once"
            ),
            ("X above 1 quiet never", "X above 1 quiet never"),
            ("X above 123456789012345678", "X above 123456789012345678"),
        ]
    )
    func reads(text: String, written: String) throws {
        let rule = try AlertRule(text)
        #expect(rule.description == written)
        #expect(try AlertRule(written) == rule)
    }

    @Test("what a rule is about may be left to who asks")
    func symbolOfTheScreen() throws {
        #expect(try AlertRule("above 60000", symbol: "BINANCE:BTCUSDT").description == "BINANCE:BTCUSDT above 60000")
        #expect(try AlertRule("ETH above 1", symbol: "BINANCE:BTCUSDT").description == "ETH above 1")
        #expect(
            throws: AlertRule.ParseError(
                "which symbol? write it like BINANCE:BTCUSDT above 60000, with * for every symbol"
            )
        ) {
            try AlertRule("above 60000")
        }
    }

    @Test(
        "what is no rule is told with its cure",
        arguments: [
            ("", "write it like"), ("BTCUSDT", "write it like BTCUSDT above 60000"),
            ("BTCUSDT over 60000", "write it like"),
            ("X above", "write above 60000"), ("X above 60,000", "without a currency or commas"),
            ("X above $5", "without a currency or commas"), ("X above 1234567890123456789", "at most 18 digits"),
            ("X above NaN", "is not a price"), ("X above 1 2", "\"2\" is not an option"),
            ("X moves", "write moves 2% in 5m"), ("X moves 2 in 5m", "write moves 2% in 5m"),
            ("X moves 0% in 5m", "write moves 2% in 5m"), ("X moves -2% in 5m", "write moves 2% in 5m"),
            ("X moves 0.00001% in 5m", "four fraction digits"), ("X moves 2%", "write moves 2% in 5m"),
            ("X moves 2% in", "at most 7d"), ("X moves 2% in 5", "at most 7d"), ("X moves 2% in 8d", "at most 7d"),
            ("X moves 2% in 0", "longer than 0"), ("X falls 100% in 5m", "less than 100%"),
            ("X new", "new high or new low"), ("X new peak", "new high or new low"),
            ("X stale for 1ms", "at least 1s"), ("X stale for 8d", "at most 7d"),
            ("X stale hysteresis 1%", "leave it out"),
            ("X above 1 cooldown", "cooldown 5m"), ("X above 1 cooldown soon", "cooldown 5m"),
            ("X above 1 quiet 22:00", "quiet 22:00-07:00"), ("X above 1 quiet 07:00-07:00", "quiet 22:00-07:00"),
            ("X above 1 quiet 24:00-07:00", "quiet 22:00-07:00"), ("X above 1 once once", "given twice"),
            ("X above 1 hysteresis 51%", "0% to 50%"), ("X above 1 hysteresis -1", "0% to 50%"),
            ("X above 100000000000000000.1 hysteresis 0.00001", "at most 18 digits"),
            ("X above 100000000000 hysteresis 0.0000001", "write the hysteresis in percent"),
            ("feed above 1", "name a symbol"), ("X above 1\n", "one line"), ("X\u{1B}[2J above 1", "printable"),
            (String(repeating: "X", count: 65) + " above 1", "64 bytes"),
            ("X above 1 " + String(repeating: "once ", count: 60), "256 bytes"),
        ]
    )
    func refuses(text: String, hint: String) {
        let parseError = #expect(throws: AlertRule.ParseError.self) { try AlertRule(text) }
        #expect(parseError?.description.contains(hint) == true, "\(parseError?.description ?? "")")
    }

    @Test("a symbol may be named without its venue and in small letters")
    func names() throws {
        let short = try AlertRule("btcusdt above 1")
        #expect(short.isAbout("BINANCE:BTCUSDT") && short.isAbout("BTCUSDT") && !short.isAbout("BINANCE:ETHUSDT"))
        #expect(!short.isAbout("BINANCE:XBTCUSDT"))
        let long = try AlertRule("BINANCE:BTCUSDT above 1")
        #expect(long.isAbout("BINANCE:BTCUSDT") && !long.isAbout("KRAKEN:BTCUSDT") && !long.isAbout("BTCUSDT"))
        #expect(try AlertRule("* above 1").isAbout("anything"))
        #expect(try !AlertRule("feed stale").isAbout("feed"))
    }

    @Test("spans are exact, and nothing else is one")
    func spans() {
        for (text, span) in [
            ("0", 0), ("1ms", 1_000_000), ("1.5s", 1_500_000_000), ("0.001ms", 1_000), ("7d", AlertSpan.most),
            ("168h", AlertSpan.most), ("1e1s", nil), ("1s ", nil), ("s", nil), (".5s", nil), ("-1s", nil),
            ("1.0000000001s", nil), ("99999999999999999d", nil), ("1m30s", nil), ("", nil), ("1", nil), ("1_000s", nil),
        ] as [(String, Int64?)] {
            #expect(AlertSpan.read(text) == span, "\(text)")
        }
        for span: Int64 in [0, 1_000_000, 90_000_000_000, 3_600_000_000_000, AlertSpan.most, 1_001_000_000] {
            #expect(AlertSpan.read(AlertSpan.write(span)) == span)
        }
    }

    @Test("quiet hours know their end, over midnight and at any distance from UTC")
    func quietHours() throws {
        let night = try #require(QuietHours("22:00-07:00"))
        let hour: Int64 = 3_600_000_000_000
        let day = 24 * hour
        #expect(night.end(at: 23 * hour, offset: 0) == day + 7 * hour)
        #expect(night.end(at: 6 * hour + 1, offset: 0) == 7 * hour)
        #expect(night.end(at: 7 * hour, offset: 0) == nil)
        #expect(night.end(at: 22 * hour - 1, offset: 0) == nil)
        #expect(night.end(at: 21 * hour, offset: hour) == day + 6 * hour)
        #expect(night.end(at: -hour, offset: 0) == 7 * hour)
        #expect(night.end(at: .max, offset: hour) == nil)
        let noon = try #require(QuietHours("12:00-13:30"))
        #expect(noon.end(at: 12 * hour, offset: 0) == 13 * hour + hour / 2)
        #expect(noon.end(at: 11 * hour, offset: 0) == nil)
        #expect(noon.end(at: 13 * hour + hour / 2, offset: 0) == nil)
    }
}
