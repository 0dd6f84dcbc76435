import Testing
@testable import Market

/// A watch with samples of trades; the alerts are returned as lines.
struct AlertBench {
    var watch: AlertEvaluator
    var samples = Samples()
    var lines: [String] = []

    init(
        _ rules: String...,
        symbols: [String] = [],
        offset: Int64 = 0,
        _ change: (inout AlertEvaluator.Settings) -> Void = { _ in }
    ) throws {
        var settings = AlertEvaluator.Settings()
        settings.hysteresis = .zero
        settings.cooldown = 0
        settings.isReplay = true
        change(&settings)
        self.watch = AlertEvaluator(settings: settings, symbols: symbols, offset: { _ in offset })
        self.watch.setRules(try rules.enumerated().map { ($0.offset, try AlertRule($0.element)) })
    }

    /// Plays a trade at a time in ms of the exchange's clock; returns the alerts that it fired.
    @discardableResult
    mutating func trade(
        _ price: String,
        at time: Int64,
        symbol: String = "X",
        arrived: Int64? = nil,
        marks: TradeMarks = []
    ) -> [String] {
        var trade = self.samples.trade(price, time: time, symbol: symbol)
        trade.marks = marks
        let names = self.samples.symbols
        var fired: [String] = []
        let arrived = (arrived ?? time) * 1_000_000
        self.watch.traded(trade, name: { names.name(of: trade.symbol) }, arrived: arrived) {
            fired.append(Self.line($0))
        }
        self.lines += fired
        return fired
    }

    /// Advances our clock to a time in ms; returns the alerts that fired.
    @discardableResult
    mutating func clock(_ time: Int64) -> [String] {
        var fired: [String] = []
        self.watch.timePassed(now: time * 1_000_000) { fired.append(Self.line($0)) }
        self.lines += fired
        return fired
    }

    /// Formats an alert as `TIME SYMBOL KIND PRICE`, with the time in ms.
    static func line(_ alert: Alert) -> String {
        "\(alert.time / 1_000_000) \(alert.symbol) \(alert.kind) \(alert.price.map { "\($0)" } ?? "-")"
    }

    var words: [String] { self.watch.states.map(\.words) }
}

@Suite("The watch for alerts")
struct AlertEvaluatorTests {
    @Test("a trade that is ahead fires nothing and moves neither a window nor a replay's clock, and ends a silence")
    func ahead() throws {
        var bench = try AlertBench("X above 100", "X moves 5% in 1m", "X stale for 30s")
        #expect(bench.trade("90", at: 0).isEmpty)
        #expect(bench.trade("200", at: 9_000_000, marks: [.ahead]).isEmpty)
        #expect(bench.trade("91", at: 20_000).isEmpty)
        #expect(bench.trade("101", at: 21_000) == ["21000 X above 101", "21000 X moves 101"])
        // A trade that is ahead does not stop our own clock.
        var live = try AlertBench("X stale for 30s") { $0.isReplay = false }
        #expect(live.trade("90", at: 0).isEmpty)
        #expect(live.trade("90", at: 9_000_000, arrived: 25_000, marks: [.ahead]).isEmpty)
        #expect(live.clock(50_000).isEmpty && live.clock(60_000).count == 1)
    }

    @Test("above fires at once, and again only when the price has come back by the hysteresis")
    func above() throws {
        var bench = try AlertBench("X above 100 hysteresis 1%")
        #expect(bench.trade("100", at: 0).isEmpty)
        #expect(bench.trade("100.01", at: 1) == ["1 X above 100.01"])
        #expect(bench.words == ["fired once, armed again at 99"])
        #expect(bench.trade("99.01", at: 2).isEmpty)
        #expect(bench.trade("101", at: 3).isEmpty)
        #expect(bench.trade("99", at: 4).isEmpty)
        #expect(bench.words == ["fired once, armed"])
        #expect(bench.trade("100.5", at: 5) == ["5 X above 100.5"])
        var first = try AlertBench("X above 100")
        #expect(first.trade("200", at: 0) == ["0 X above 200"])
    }

    @Test("below is its mirror, with a band in price units, and for prices below zero")
    func below() throws {
        var bench = try AlertBench("X below 0.3 hysteresis 0.05", "X below -10 hysteresis 10%")
        #expect(bench.trade("0.3", at: 0).isEmpty)
        #expect(bench.trade("0.2999", at: 1) == ["1 X below 0.2999"])
        #expect(bench.trade("0.349", at: 2).isEmpty)
        #expect(bench.trade("0.29", at: 3).isEmpty)
        #expect(bench.trade("0.35", at: 4).isEmpty)
        #expect(bench.trade("0.29", at: 5) == ["5 X below 0.29"])
        #expect(bench.trade("-11", at: 6) == ["6 X below -11"])
        #expect(bench.trade("-9.5", at: 7).isEmpty)
        #expect(bench.trade("-11", at: 8).isEmpty)
        // The band of a negative price: a tenth of it nearer to zero.
        #expect(bench.trade("-9", at: 9).isEmpty)
        #expect(bench.trade("-11", at: 10) == ["10 X below -11"])
    }

    @Test("crosses tells each way once, not its trembling, and not the first side")
    func crosses() throws {
        var bench = try AlertBench("X crosses 100 hysteresis 1%")
        #expect(bench.trade("99.9", at: 0).isEmpty)
        #expect(bench.trade("100", at: 1).isEmpty)
        #expect(bench.trade("100.1", at: 2) == ["2 X crosses 100.1"])
        #expect(bench.trade("99.9", at: 3).isEmpty)
        #expect(bench.trade("100.2", at: 4).isEmpty)
        // The price goes through to the other edge without having been far enough on this side.
        #expect(bench.trade("99", at: 5) == ["5 X crosses 99"])
        #expect(bench.trade("100.5", at: 6) == ["6 X crosses 100.5"])
        // 99 was on the lower edge, but no price since was.
        #expect(bench.trade("99.5", at: 7).isEmpty)
        #expect(bench.trade("101", at: 8).isEmpty)
        #expect(bench.trade("99.99", at: 9) == ["9 X crosses 99.99"])
    }

    @Test("moves is measured from the lowest and the highest of the span, and anew after an alert")
    func moves() throws {
        var bench = try AlertBench("X moves 2% in 5m")
        let minute: Int64 = 60_000
        #expect(bench.trade("100", at: 0).isEmpty)
        #expect(bench.trade("101.99", at: minute).isEmpty)
        #expect(bench.trade("102", at: 2 * minute) == ["120000 X moves 102"])
        #expect(bench.trade("103.9", at: 3 * minute).isEmpty)
        #expect(bench.trade("101.8", at: 4 * minute) == ["240000 X moves 101.8"])
        // 101.8 is just within the span, and then no longer.
        #expect(bench.trade("103.835", at: 9 * minute).isEmpty)
        #expect(bench.trade("103.836", at: 9 * minute) == ["540000 X moves 103.836"])
        #expect(bench.trade("110", at: 14 * minute + 1).isEmpty)
        var only = try AlertBench("X rises 2% in 5m", "X falls 2% in 5m")
        only.trade("100", at: 0)
        #expect(only.trade("98", at: 1) == ["1 X falls 98"])
        #expect(only.trade("99.96", at: 2) == ["2 X rises 99.96"])
        #expect(only.trade("0", at: 3) == ["3 X falls 0"])
        #expect(only.trade("5", at: 4).isEmpty)
    }

    @Test("new high and new low count late trades too, and trembling at the top once")
    func extremes() throws {
        var bench = try AlertBench("X new high hysteresis 1%", "X new low")
        #expect(bench.trade("100", at: 20_000).isEmpty)
        #expect(bench.trade("100.1", at: 20_001) == ["20001 X new-high 100.1"])
        #expect(bench.trade("100.2", at: 20_002).isEmpty)
        #expect(bench.trade("101.1", at: 20_003).isEmpty)
        #expect(bench.trade("101.101", at: 20_004) == ["20004 X new-high 101.101"])
        #expect(bench.trade("99", at: 19_000) == ["19000 X new-low 99"])
        #expect(bench.trade("99", at: 20_005).isEmpty)
    }

    @Test("a late trade is no price, and a clock that was set back is one to go on with")
    func lateTrades() throws {
        var bench = try AlertBench("X above 100", "X moves 5% in 1h")
        bench.trade("50", at: 100_000)
        #expect(bench.trade("101", at: 99_999).isEmpty)
        #expect(bench.trade("101", at: 90_000).isEmpty)
        #expect(bench.trade("101", at: 89_999) == ["89999 X above 101"])
    }

    @Test("what the cool-down holds back is told when it is over, if it still holds")
    func coolDown() throws {
        var bench = try AlertBench("X above 100 cooldown 1m", "X new high cooldown 1m")
        #expect(bench.trade("90", at: 0).isEmpty)
        #expect(bench.trade("101", at: 1_000) == ["1000 X above 101", "1000 X new-high 101"])
        #expect(bench.trade("100", at: 2_000).isEmpty)
        #expect(bench.trade("102", at: 3_000).isEmpty)
        #expect(bench.words[0] == "fired once, cools down until 00:01:01, held back once")
        #expect(bench.trade("102", at: 60_999).isEmpty)
        #expect(bench.trade("102", at: 61_000) == ["61000 X above 102"])
        #expect(bench.trade("103", at: 61_001) == ["61001 X new-high 103"])
        #expect(bench.words[0].hasPrefix("fired 2 times"))
    }

    @Test("in quiet hours nothing fires, and what is still true is told in the morning")
    func quiet() throws {
        let hour: Int64 = 3_600_000
        var bench = try AlertBench(
            "X above 100",
            "X crosses 100",
            "X above 100 quiet never",
            offset: 3_600_000_000_000
        ) {
            $0.quiet = QuietHours("22:00-07:00")
        }
        bench.trade("90", at: 20 * hour)
        #expect(bench.trade("101", at: 21 * hour).map { $0.hasSuffix("above 101") } == [true])
        #expect(bench.words[0] == "quiet until 07:00, held back once")
        #expect(bench.trade("102", at: 30 * hour - 1).isEmpty)
        #expect(bench.trade("102", at: 30 * hour) == ["\(30 * hour) X above 102"])
        #expect(bench.trade("99", at: 31 * hour) == ["\(31 * hour) X crosses 99"])
    }

    @Test("once is once")
    func once() throws {
        var bench = try AlertBench("X above 100 once", "X stale for 5s once")
        #expect(bench.trade("101", at: 0) == ["0 X above 101"])
        bench.trade("99", at: 1)
        #expect(bench.trade("101", at: 2).isEmpty)
        #expect(bench.trade("101", at: 10_000) == ["5002 X stale 101"])
        #expect(bench.trade("101", at: 20_000).isEmpty)
        #expect(bench.words == ["fired once, done", "fired once, done"])
    }

    @Test("in a replay, silence is told by the trades' own times, in the order in which it began")
    func silenceInReplay() throws {
        var bench = try AlertBench(
            "X stale for 30s",
            "Y stale for 10s",
            "X back after 30s",
            "feed stale for 60s",
            "feed back after 60s",
            symbols: ["X", "Y"]
        )
        #expect(bench.trade("1", at: 0, symbol: "X").isEmpty)
        #expect(bench.trade("2", at: 9_000, symbol: "Y").isEmpty)
        #expect(bench.trade("2", at: 18_999, symbol: "Y").isEmpty)
        #expect(bench.trade("3", at: 35_000, symbol: "Z") == ["28999 Y stale 2", "30000 X stale 1"])
        #expect(bench.trade("1", at: 36_000, symbol: "X") == ["36000 X back 1"])
        #expect(
            bench.trade("1", at: 100_000, symbol: "X") == [
                "66000 X stale 1", "96000 feed stale 1", "100000 feed back 1", "100000 X back 1",
            ]
        )
        #expect(bench.clock(1_000_000).isEmpty)
        #expect(bench.watch.deadline == nil)
    }

    @Test("live, silence is told by our clock, which asks to be called in time")
    func silenceLive() throws {
        var bench = try AlertBench("X stale for 30s", "X back after 30s", symbols: ["X"]) { $0.isReplay = false }
        #expect(bench.clock(0).isEmpty)
        #expect(bench.watch.deadline == 30_000_000_000)
        // The exchange's clock is an hour behind, which is not a silence.
        #expect(bench.trade("1", at: -3_600_000, arrived: 29_000).isEmpty)
        #expect(bench.clock(30_000).isEmpty)
        #expect(bench.watch.deadline == 59_000_000_000)
        #expect(bench.clock(59_500) == ["59000 X stale 1"])
        #expect(bench.watch.deadline == nil)
        #expect(bench.clock(590_000).isEmpty)
        #expect(bench.trade("2", at: 0, arrived: 600_000) == ["600000 X back 2"])
        #expect(bench.watch.deadline == 630_000_000_000)
    }

    @Test("a symbol that never trades is stale, and told again only after the cool-down")
    func neverTrades() throws {
        var bench = try AlertBench("A:X stale for 30s cooldown 5m", "X stale for 30s", symbols: ["A:X"]) {
            $0.isReplay = false
        }
        bench.clock(0)
        #expect(bench.clock(30_000) == ["30000 A:X stale -", "30000 A:X stale -"])
        bench.trade("1", at: 0, symbol: "A:X", arrived: 31_000)
        #expect(bench.clock(61_000) == ["61000 A:X stale 1"])
        #expect(bench.clock(329_999).isEmpty)
        #expect(bench.watch.deadline == 330_000_000_000)
        #expect(bench.clock(330_000) == ["330000 A:X stale 1"])
    }

    @Test("the feed's own word counts at once, but not in a replay")
    func silencedByTheFeed() throws {
        for isReplay in [false, true] {
            var bench = try AlertBench("X stale", "feed stale", "* stale", symbols: ["X", "Y"]) {
                $0.isReplay = isReplay
            }
            bench.clock(0)
            var fired: [String] = []
            bench.watch.silenced("X", reason: "no such symbol", now: 5_000_000) {
                fired.append("\($0.symbol) \($0.reason)")
            }
            bench.watch.silenced("X", reason: "no such symbol", now: 5_000_000) {
                fired.append("\($0.symbol) \($0.reason)")
            }
            bench.watch.silenced(nil, reason: "key-rejected", now: 6_000_000) {
                fired.append("\($0.symbol) \($0.reason)")
            }
            #expect(fired == (isReplay ? [] : ["X no such symbol", "X no such symbol", "feed key-rejected"]))
        }
    }

    @Test("a clock that was set back does not make silence of it, nor hide one for hours")
    func clockSetBack() throws {
        var bench = try AlertBench("X stale for 30s", symbols: ["X"]) { $0.isReplay = false }
        bench.trade("1", at: 0, arrived: 10_000_000)
        #expect(bench.clock(5_000_000).isEmpty)
        #expect(bench.watch.deadline == 5_030_000_000_000)
        #expect(bench.clock(5_030_000) == ["5030000 X stale 1"])
    }

    @Test("rules for every symbol watch each by itself, and rules come and go without the others noticing")
    func everySymbol() throws {
        var bench = try AlertBench("* above 100", "y below 5")
        #expect(bench.trade("101", at: 0, symbol: "A:X") == ["0 A:X above 101"])
        #expect(bench.trade("4", at: 1, symbol: "A:Y") == ["1 A:Y below 4"])
        #expect(bench.trade("102", at: 2, symbol: "A:X").isEmpty)
        #expect(bench.words[0] == "fired once, armed for 1 of 2 symbols")
        let rules = [(0, try AlertRule("* above 100")), (7, try AlertRule("a:x below 103"))]
        bench.watch.setRules(rules)
        #expect(bench.trade("102", at: 3, symbol: "A:X") == ["3 A:X below 102"])
        #expect(bench.trade("200", at: 4, symbol: "A:Y") == ["4 A:Y above 200"])
        bench.watch.symbolsRenewed()
        bench.samples = Samples()
        #expect(bench.trade("300", at: 5, symbol: "NEW") == ["5 NEW above 300"])
        #expect(bench.trade("50", at: 6, symbol: "A:X").isEmpty)
        #expect(bench.trade("101", at: 7, symbol: "A:X") == ["7 A:X above 101"])
    }

    @Test("rules and pairs are bounded")
    func bounds() throws {
        let rules = try (0..<300).map { (number: $0, rule: try AlertRule("* above \($0 + 1_000)")) }
        var watch = AlertEvaluator()
        watch.setRules(rules)
        #expect(watch.states.count == AlertRule.most)
        var samples = Samples()
        for symbol in 0..<10 {
            let trade = samples.trade("1", symbol: "S\(symbol)")
            watch.traded(trade, name: { "S\(symbol)" }, arrived: 0) { _ in }
        }
        #expect(watch.unwatched == 10 * AlertRule.most - AlertEvaluator.maximumWatchers)
    }

    @Test("what a rule has done outlives the program as text, and damaged text is none")
    func memory() throws {
        var bench = try AlertBench("X above 100", "X crosses 100 cooldown 1h", "* above 5 once")
        bench.trade("99", at: 0)
        bench.trade("101", at: 1_000)
        let memory = AlertState(rules: ["X above 100"], states: bench.watch.memory)
        let read = try #require(AlertState(text: memory.text))
        #expect(read == memory)
        var settings = AlertEvaluator.Settings()
        settings.cooldown = 0
        settings.isReplay = true
        var next = AlertEvaluator(settings: settings, remembered: read.states)
        next.setRules([
            (0, try AlertRule("X above 100")), (1, try AlertRule("X crosses 100 cooldown 1h")),
            (2, try AlertRule("* above 5 once")),
        ])
        bench.watch = next
        #expect(bench.trade("102", at: 2_000).isEmpty)
        #expect(bench.trade("98", at: 3_000).isEmpty)
        #expect(bench.trade("102", at: 4_000) == ["4000 X above 102"])
        #expect(bench.watch.memory.contains { $0.rule == "X above 100" && $0.count == 2 })

        let text = memory.text
        for end in text.indices.dropFirst() { #expect(AlertState(text: String(text[..<end])) == nil) }
        for bad in [
            "", "tickertape alerts 2\nend\n", "tickertape alerts 1\nrule\tnonsense\nend\n",
            "tickertape alerts 1\nstate\ta\tb\tarmed\t2\t0\t-\nend\n",
            "tickertape alerts 1\nstate\ta\tb\tarmed\t0\t-1\t-\nend\n", "tickertape alerts 1\nwhat\nend\n",
            "tickertape alerts 1\n" + String(repeating: "rule\tX above 1\n", count: 257) + "end\n",
        ] {
            #expect(AlertState(text: bad) == nil, "\(bad.prefix(60))")
        }
    }
}
