import Market
import Testing
import TickertapeTesting
import Wire
@testable import Measurements

@Suite struct AuditMachineTests {
    @Test("trades that both sides have are delivered, whichever comes first, and the venue's microseconds are cut")
    func delivered() {
        let text = AuditScript.run(
            """
            10 v 7 1000 61837.6 0.02
            90 f 1000 61837.6 0.02
            200 f 1100 61838 1
            210 v 8 1100 61838.00 1.0
            """
        )
        #expect(text == "delivered 2")
    }

    @Test("a trade that Finnhub lacks is missing after two minutes, and has its id")
    func missing() {
        let lines = """
            10 v 7 1000 61837.6 0.02
            90 f 1000 61837.6 0.02
            100 v 8 1100 61838 1
            110 v 9 1200 61839 1
            120 v 10 1300 61840 1
            190 f 1300 61840 1
            """
        #expect(AuditScript.run(lines + "\n120099 look") == "delivered 2, waiting 2")
        #expect(AuditScript.run(lines + "\n120110 look") == "delivered 2, missing 2, 8-9")
    }

    @Test("a trade that comes after it was judged is delivered, late")
    func late() {
        let text = AuditScript.run(
            """
            10 v 7 1000 61837.6 0.02
            90 f 1000 61837.6 0.02
            100 v 8 1100 61838 1
            110 v 9 1200 61839 1
            190 f 1200 61839 1
            130000 look
            130100 f 1100 61838 1
            """
        )
        #expect(text == "delivered 3, late 1, reordered 1")
    }

    @Test("after its memory the machine no longer knows a late trade")
    func forgotten() {
        let text = AuditScript.run(
            """
            10 v 7 1000 61837.6 0.02
            90 f 1000 61837.6 0.02
            100 v 8 1100 61838 1
            110 v 9 1200 61839 1
            190 f 1200 61839 1
            600200 look
            600300 v 10 600000 61840 1
            600310 f 1100 61838 1
            600400 f 600000 61840 1
            800000 look
            """
        )
        #expect(text == "delivered 3, missing 1, unknown 1, 8-8")
    }

    @Test("the first trade is repeated if it came twice; others of its millisecond prove nothing")
    func repeatedFirst() {
        let text = AuditScript.run(
            """
            10 v 7 1000 61837.6 0.02
            90 f 1000 61837.6 0.02
            91 f 1000 61837.6 0.02
            92 f 1000 61837.7 0.02
            100 v 8 1100 61838 1
            110 f 1100 61838 1
            130000 look
            """
        )
        #expect(text == "delivered 2, repeated 1, unproven 1")
    }

    @Test("a trade that came once too often is repeated, one with another price is unknown")
    func repeatedAndUnknown() {
        let text = AuditScript.run(
            """
            10 v 7 1000 61837.6 0.02
            90 f 1000 61837.6 0.02
            100 v 8 1100 61838 1
            190 f 1100 61838 1
            100000 f 1100 61838 1
            191 f 1100 61838.1 1
            200 v 9 1200 61839 1
            290 f 1200 61839 1
            221000 look
            """
        )
        #expect(text == "delivered 3, repeated 1, unknown 1")
    }

    @Test("equal trades are told apart by order, and their number is exact")
    func equalTrades() {
        let text = AuditScript.run(
            """
            10 v 1 1000 5 1
            20 f 1000 5 1
            30 v 2 2000 5 1
            30 v 3 2000 5 1
            30 v 4 2000 5 1
            30 v 5 2001 5 1
            40 f 2000 5 1
            40 f 2000 5 1
            40 f 2001 5 1
            120030 look
            """
        )
        #expect(text == "delivered 4, missing 1, 4-4")
    }

    @Test("trades before one of the streams began, and after one ended, prove nothing")
    func ends() {
        let text = AuditScript.run(
            """
            10 v 1 1000 5 1
            20 v 2 1500 5 1
            25 v 3 1500 6 1
            30 f 1500 6 1
            35 v 4 1500 7 1
            40 v 5 1600 7 1
            50 f 1600 7 1
            60 v 6 1700 7 1
            end
            """
        )
        #expect(text == "delivered 2, missing 1, unproven 3, 4-4")
        let other = AuditScript.run(
            """
            10 f 1000 5 1
            20 f 1500 5 1
            30 v 9 1500 6 1
            30 f 1500 6 1
            40 f 1500 7 1
            50 v 10 1600 7 1
            60 f 1600 7 1
            70 f 1700 7 1
            end
            """
        )
        #expect(other == "delivered 2, unproven 4")
    }

    @Test("a symbol of which Finnhub sends nothing, while it sends others, has lost its trades")
    func silentSymbol() {
        var script = AuditScript()
        func trade(_ symbol: String, _ id: UInt64, finnhub: Bool = true) {
            let time = Int64(1_000 + 100 * id)
            script.take(
                id: id,
                time: time,
                price: "5",
                size: "1",
                from: .venue,
                arrival: time * 1_000_000,
                symbol: symbol
            )
            guard finnhub else { return }
            script.take(
                id: nil,
                time: time,
                price: "5",
                size: "1",
                from: .finnhub,
                arrival: time * 1_000_000,
                symbol: symbol
            )
        }
        for id in 1...5 as ClosedRange<UInt64> { trade(AuditScript.symbol, id) }
        for id in 6...5_000 as ClosedRange<UInt64> {
            trade("BINANCE:ETHUSDT", id)
            if id < 100 { trade(AuditScript.symbol, id, finnhub: false) }
        }
        script.machine.timePassed(now: 501_000_000_000)
        #expect(script.text == "delivered 5, missing 94, 6-99; delivered 4995")
    }

    @Test("a trade from the future ends no other symbol's stream")
    func ahead() {
        var script = AuditScript()
        for id in 1...9 as ClosedRange<UInt64> {
            let arrival = Int64(id) * 1_000_000
            script.take(id: id, time: Int64(id), price: "5", size: "1", from: .venue, arrival: arrival)
            guard id < 5 else { continue }
            script.take(id: nil, time: Int64(id), price: "5", size: "1", from: .finnhub, arrival: arrival)
        }
        let hour = Int64(3_600_000)
        script.take(
            id: nil,
            time: hour,
            price: "7",
            size: "1",
            from: .finnhub,
            arrival: 10_000_000,
            symbol: "BINANCE:ETHUSDT",
            marks: .ahead
        )
        script.machine.finish()
        #expect(script.text == "delivered 4, unproven 5; unproven 1")
    }

    @Test("what Finnhub lacks in its own gaps is counted apart")
    func finnhubGaps() {
        let text = AuditScript.run(
            """
            10 v 1 1000 5 1
            20 f 1000 5 1
            30 v 2 2000 5 1
            40 f 2000 5 1
            50 v 3 3000 5 1
            60 v 4 4000 5 1
            70 gap f
            80 v 5 5000 5 1
            90 f 5000 5 1
            100 v 6 6000 5 1
            110 v 7 7000 5 1
            120 f 7000 5 1
            130000 look
            """
        )
        #expect(text == "delivered 4, missing 1, gaps 1, in gaps 2, 6-6")
    }

    @Test("a symbol that is not subscribed for a while misses nothing")
    func absence() {
        let text = AuditScript.run(
            """
            10 v 1 1000 5 1
            20 f 1000 5 1
            30 absent f
            40 v 2 2000 5 1
            50 v 3 3000 5 1
            60 f 3000 5 1
            130000 look
            """
        )
        #expect(text == "delivered 2, unproven 1")
    }

    @Test("while Finnhub sends nothing newer, nothing is judged until the memory ends")
    func silence() {
        let lines = """
            10 v 1 1000 5 1
            20 f 1000 5 1
            30 v 2 2000 5 1
            40 v 3 3000 5 1
            """
        #expect(AuditScript.run(lines + "\n300000 look") == "delivered 1, waiting 2")
        #expect(AuditScript.run(lines + "\n600100 look") == "delivered 1, unproven 2")
        // The gap shows with the next trade.
        #expect(
            AuditScript.run(lines + "\n300000 gap f\n300000 v 4 9000 5 1\n300001 f 9000 5 1\n300002 look")
                == "delivered 2, gaps 1, in gaps 2"
        )
    }

    @Test("a gap of the venue excuses Finnhub's trades, and filled trades find their partners without a delay")
    func venueGaps() {
        let lines = """
            10 v 1 1000 5 1
            20 f 1000 5 1
            30 f 2000 5 1
            40 f 3000 5 1
            50 gap v
            60 v 4 4000 5 1
            70 f 4000 5 1
            """
        #expect(AuditScript.run(lines + "\n130000 look") == "delivered 2, unproven 2")
        var script = AuditScript()
        let filled = AuditScript.run(lines + "\n80 v+ 2 2000 5 1\n90 v+ 3 3000 5 1\n130000 look")
        #expect(filled == "delivered 4")
        script.take(id: 1, time: 1_000, price: "5", size: "1", from: .venue, arrival: 0)
        script.take(id: nil, time: 1_000, price: "5", size: "1", from: .finnhub, arrival: 50_000_000)
        script.take(id: nil, time: 2_000, price: "5", size: "1", from: .finnhub, arrival: 60_000_000)
        script.take(id: 2, time: 2_000, price: "5", size: "1", from: .venue, arrival: 90_000_000_000, isFilled: true)
        #expect(script.machine.report.symbols.first?.delay?.count == 1)
    }

    @Test("price updates, trades with ids on Finnhub's tape and symbols of other exchanges are no part of it")
    func leftOut() {
        var script = AuditScript()
        script.take(id: nil, time: 1, price: "5", size: "0", from: .finnhub, arrival: 0)
        script.take(id: 7, time: 1, price: "5", size: "1", from: .finnhub, arrival: 0)
        script.take(id: nil, time: 1, price: "5", size: "1", from: .finnhub, arrival: 0, symbol: "OANDA:EUR_USD")
        #expect(script.machine.report.symbols == [])
    }

    @Test("the trades that wait are bounded: the oldest are judged earlier")
    func bounded() {
        var limits = AuditLimits()
        limits.trades = 100
        limits.remembered = 10
        var script = AuditScript(limits: limits)
        script.take(id: 1, time: 1, price: "5", size: "1", from: .venue, arrival: 0)
        script.take(id: nil, time: 1, price: "5", size: "1", from: .finnhub, arrival: 0)
        for id in UInt64(2)...1_000 {
            script.take(id: id, time: Int64(id), price: "5", size: "1", from: .venue, arrival: 0)
        }
        #expect(script.text == "delivered 1, unproven 898, waiting 101")
        script.take(id: nil, time: 1_000, price: "5", size: "1", from: .finnhub, arrival: 0)
        script.machine.timePassed(now: 121_000_000_000)
        #expect(script.text == "delivered 2, missing 99, unproven 899, 901-999")
        for _ in 0..<1_000 { script.take(id: nil, time: 500, price: "7", size: "1", from: .finnhub, arrival: 0) }
        #expect(script.machine.report.symbols[0].waiting == 101)
    }

    @Test(
        "times and ids at their limits are no fault",
        arguments: [Int64.min / 1_000_000, Int64.max / 1_000_000 - 1, 0]
    )
    func extremes(time: Int64) {
        var script = AuditScript()
        for id in [0, 1, UInt64.max - 1] {
            script.take(id: id, time: time, price: "5", size: "1", from: .venue, arrival: .max)
            script.take(id: nil, time: time, price: "5", size: "1", from: .finnhub, arrival: .min)
        }
        script.machine.timePassed(now: .max)
        script.machine.timePassed(now: .min)
        script.machine.finish()
        #expect(script.machine.report.symbols[0].delivered == 3)
    }

    @Test("symbols beyond the limit are not compared")
    func symbolLimit() {
        var limits = AuditLimits()
        limits.symbols = 2
        var script = AuditScript(limits: limits)
        for name in ["A", "B", "C"] {
            script.take(id: 1, time: 1, price: "5", size: "1", from: .venue, arrival: 0, symbol: "BINANCE:\(name)")
        }
        #expect(script.machine.report.symbols.map(\.symbol) == ["BINANCE:A", "BINANCE:B"])
    }

    @Test("with random faults and equal neighbours the counts are the truth", arguments: 1...40)
    func property(seed: Int) {
        let market = AuditedMarket(seed: UInt64(seed), count: 2_000, share: 60)
        var script = AuditScript()
        script.play(market)
        let report = script.machine.report.symbols[0]
        let lost = market.faults[.lost, default: []].union(market.faults[.altered, default: []])
        #expect(report.missing == lost.count)
        #expect(report.repeated == market.count(.doubled))
        #expect(report.unknown == market.count(.altered))
        #expect(report.delivered == 2_000 - lost.count)
        #expect(report.unproven == 0 && report.waiting == 0 && report.late == 0)
        #expect(report.delay?.count == UInt64(report.delivered))
        // Of equal trades another one is named, so contents are compared.
        let contents = Dictionary(
            uniqueKeysWithValues: market.venue.map { ($0.id ?? 0, [$0.time, $0.price, $0.size]) }
        )
        func sorted(_ ids: some Sequence<UInt64>) -> [String] {
            ids.compactMap { contents[$0] }.map { "\($0)" }.sorted()
        }
        if report.unlistedIDs == 0 { #expect(sorted(report.missingIDs.flatMap { Array($0) }) == sorted(lost)) }
    }

    @Test(
        "exactly the trades that came behind a later one are found, also among equal ones",
        arguments: 1...10,
        [0, 15, 60]
    )
    func delayed(seed: Int, equalShare: Int) {
        let market = AuditedMarket(
            seed: UInt64(seed),
            count: 2_000,
            share: 10,
            kinds: [.delayed],
            equalShare: equalShare,
            delay: 50_000_000...50_000_000
        )
        var script = AuditScript()
        script.play(market)
        #expect(market.overtaken.count > 5)
        #expect(script.text == "delivered 2000, reordered \(market.overtaken.count)")
    }

    @Test("the delay is that of Finnhub's arrival after the venue's")
    func delay() throws {
        let market = AuditedMarket(seed: 9, count: 1_000, share: 0, delay: 80_000_000...80_000_000)
        var script = AuditScript()
        script.play(market)
        let delay = try #require(script.machine.report.symbols[0].delay)
        #expect((80_000_000...81_000_000).contains(delay.median))
        #expect((80_000_000...81_000_000).contains(delay.percentile99))
    }
}
