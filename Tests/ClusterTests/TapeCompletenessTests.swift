import Market
import Testing
import TickertapeTesting
import Wire

private let second: Int64 = 1_000_000_000

/// Times are whole seconds.
private struct Bench {
    private var source = BatchSource()
    private(set) var tape: TapeCompleteness

    init(_ end: Int64) { self.tape = TapeCompleteness(end * second) }

    mutating func trade(_ time: Int64, _ symbols: String..., marks: TradeMarks = [], id: UInt64? = nil) {
        var batch = self.source.batch(symbols.map { Frames.trade($0, "1") })
        for symbol in symbols { self.subscribe(time, symbol) }
        for index in batch.trades.indices { (batch.trades[index].marks, batch.trades[index].id) = (marks, id) }
        self.tape.read(batch, at: time * second)
    }

    /// Takes a trade of a symbol to which the ingest may not subscribe.
    mutating func straggle(_ time: Int64, _ symbol: String, id: UInt64) {
        var batch = self.source.batch([Frames.trade(symbol, "1")])
        batch.trades[0].id = id
        self.tape.read(batch, at: time * second)
    }

    mutating func change(_ time: Int64, _ phase: FeedStatus.Phase?) { self.tape.changed(to: phase, at: time * second) }

    mutating func pass(_ time: Int64) { self.tape.passed(time * second) }

    mutating func gap(_ from: Int64, _ to: Int64, _ symbol: String? = nil) {
        if let symbol { self.subscribe(to, symbol) }
        self.tape.gapFound(Gap(from: from * second, to: to * second, reason: "", nextSequence: 0, symbol: symbol))
    }

    mutating func subscribe(_ time: Int64, _ symbol: String) { self.tape.subscribed(symbol, at: time * second) }
    mutating func release(_ symbol: String) { self.tape.released(symbol) }
    mutating func keep(_ symbols: String...) { self.tape.keep(Set(symbols)) }
    mutating func lose() { self.tape.lostTrades() }
    func id(_ symbol: String) -> UInt64? { self.tape.newest(of: symbol)?.id }

    /// Takes the gaps of outages, as symbols with two times.
    mutating func take(_ symbols: String..., to end: Int64? = nil) -> [String] {
        let end = end.map { $0 * second }
        let gap = Gap(from: 0, to: 0, reason: "x", nextSequence: 0)
        return self.tape.takeOutageGaps(of: Set(symbols), to: end, gap).map {
            "\($0.symbol ?? "") \($0.from / second) \($0.to / second) \($0.reason)"
        }
    }

    var end: Int64 { self.tape.end / second }
    var proven: Int64 { self.tape.proven / second }
    func proven(_ symbols: String...) -> Int64 { self.tape.proven(of: symbols) / second }
}

@Suite("TapeCompleteness")
struct TapeCompletenessTests {
    @Test("grows by messages while the feed is live, and by trades")
    func live() {
        var tape = Bench(10)
        tape.pass(11)
        #expect(tape.end == 10)
        tape.trade(12, "A")
        #expect(tape.end == 12)
        tape.change(12, .live)
        tape.pass(13)
        #expect(tape.end == 13)
        tape.trade(12, "A")
        #expect(tape.end == 13)
    }

    @Test(
        "goes back to the newest trade when the feed is not live any more",
        arguments: [FeedStatus.Phase.late, .stale, .reconnecting(attempt: 1, retryAt: 0)]
    )
    func lost(phase: FeedStatus.Phase) {
        var tape = Bench(10)
        tape.change(10, .live)
        tape.trade(12, "A")
        tape.pass(17)
        tape.change(17, phase)
        tape.pass(18)
        #expect(tape.end == 12)
        tape.gap(12, 19)
        tape.change(19, phase)
        #expect(tape.end == 19)
        // After a silence without a gap nothing was missing.
        tape.change(20, .live)
        tape.trade(25, "A")
        #expect(tape.end == 25)
    }

    @Test("stays where it was when the feed is stopped, or another ingest has taken over")
    func stopped() {
        for phase in [FeedStatus.Phase.stopped, .ended, nil] {
            var tape = Bench(10)
            tape.change(10, .live)
            tape.trade(12, "A")
            tape.pass(17)
            tape.change(17, phase)
            tape.pass(18)
            #expect(tape.end == 17 && tape.proven == 12)
        }
    }

    @Test("filled trades prove nothing of the time at which they came")
    func filled() {
        var tape = Bench(10)
        tape.change(10, .live)
        tape.trade(20, "A", "B", marks: .filled)
        #expect(tape.proven == 10 && tape.proven("A") == 10)
        tape.trade(30, "B")
        #expect(tape.proven == 30 && tape.proven("B") == 30 && tape.proven("A") == 10)
    }

    @Test("a feed is complete up to the newest trade of its symbols, or a minute before that of all feeds")
    func feeds() {
        var tape = Bench(100)
        tape.trade(110, "A", "C")
        tape.trade(112, "B")
        #expect(tape.proven("A", "B") == 112 && tape.proven("A", "C") == 110 && tape.proven("D") == 100)
        tape.gap(111, 120, "C")
        #expect(tape.proven("A", "C") == 112)
        tape.trade(160, "B")
        #expect(tape.proven("A") == 110 && tape.proven("A", "C") == 120 && tape.proven("D") == 100)
        tape.trade(300, "B")
        #expect(tape.proven("A") == 240)
        tape.gap(300, 310)
        #expect(tape.proven("A") == 310)
    }

    @Test("in an outage of one feed each silent symbol has a gap of its own, from its newest trade")
    func outage() {
        var tape = Bench(10)
        tape.subscribe(11, "C")
        tape.change(11, .live)
        tape.trade(12, "B")
        tape.trade(13, "A")
        tape.change(18, .late)
        // A tape with one feed has no trade while that is not live.
        var copy = tape
        #expect(copy.take("A", "B", "C") == [])
        tape.trade(20, "A")
        tape.change(25, .reconnecting(attempt: 1, retryAt: 0))
        #expect(tape.proven == 20 && tape.end == 20)
        copy = tape
        #expect(copy.take("A", "B", "C", "unknown") == ["B 12 20 x", "C 11 20 x"])
        // What was named is not named again.
        #expect(copy.take("A", "B", "C") == [])
        // The feed of B is back, and that of A is lost, while the status has not been live between.
        tape.trade(30, "B")
        copy = tape
        #expect(copy.take("A", "B", "C") == ["A 20 30 x", "C 11 30 x"])
        tape.gap(13, 35)
        copy = tape
        #expect(copy.take("A", "B", "C") == [])
        tape.trade(40, "A")
        tape.gap(30, 38, "C")
        #expect(tape.take("A", "B", "C") == ["B 35 40 x", "C 38 40 x"])
    }

    @Test("an outage began a minute before its notice at most, and what is merely silent a minute before the end")
    func notice() {
        for phase in [FeedStatus.Phase.late, .reconnecting(attempt: 1, retryAt: 0)] {
            var tape = Bench(10)
            tape.change(10, .live)
            tape.trade(20, "B")
            tape.trade(200, "A")
            tape.change(205, phase)
            for time: Int64 in [210, 1_000] { tape.trade(time, "A") }
            #expect(tape.proven("B") == (phase == .late ? 940 : 140))
            #expect(tape.take("B") == (phase == .late ? ["B 940 1000 x"] : ["B 140 1000 x"]))
        }
    }

    @Test("a cut amid a silence began a minute before the cut at most, and ends with it")
    func cutAmidSilence() {
        var tape = Bench(10)
        tape.change(10, .live)
        tape.trade(20, "B")
        tape.trade(30, "A")
        tape.change(35, .late)
        for time in stride(from: Int64(40), to: 1_000, by: 10) { tape.trade(time, "A") }
        tape.change(1_000, .reconnecting(attempt: 1, retryAt: 0))
        tape.change(1_005, .late)
        tape.trade(1_006, "A")
        for time in stride(from: Int64(1_010), to: 2_000, by: 10) { tape.trade(time, "A") }
        tape.change(2_000, .live)
        #expect(tape.take("A", "B") == ["B 930 1005 x"])
    }

    @Test("after an outage each symbol is in doubt until its next trade or gap, and after a mere silence none")
    func doubts() {
        for phase in [FeedStatus.Phase.late, .reconnecting(attempt: 1, retryAt: 0)] {
            var tape = Bench(10)
            tape.change(10, .live)
            tape.trade(12, "A", "B", "C", "D", "E", "G")
            tape.subscribe(13, "F")
            tape.change(20, .late)
            // One of the feeds still has a connection.
            tape.trade(22, "G")
            tape.change(25, phase)
            tape.change(30, .live)
            tape.trade(31, "A")
            tape.gap(12, 31, "C")
            tape.release("D")
            tape.trade(40, "A")
            var copy = tape
            let cut = ["B 12 30 x", "E 12 30 x", "F 13 30 x", "G 22 30 x"]
            #expect(copy.take("A", "B", "C", "D", "E", "F", "G") == (phase == .late ? [] : cut))
            // The next outage has a gap of its own.
            tape.trade(499, "A")
            tape.change(500, .reconnecting(attempt: 1, retryAt: 0))
            tape.trade(505, "A", "E")
            tape.change(510, .live)
            tape.trade(511, "A")
            #expect(tape.take("B", "E") == (phase == .late ? [] : ["B 12 30 x"]) + ["B 439 510 x", "E 505 510 x"])
        }
    }

    @Test("outages that are far apart are gaps of their own, and of many the newest are one")
    func separate() {
        var tape = Bench(10)
        tape.change(10, .live)
        tape.trade(12, "A", "B")
        for outage: Int64 in 1...10 {
            let time = outage * 1_000
            tape.trade(time, "A")
            tape.change(time, .reconnecting(attempt: 1, retryAt: 0))
            tape.change(time + 5, .live)
            tape.trade(time + 5, "A")
        }
        let gaps = tape.take("A", "B")
        #expect(gaps.count == 8 && gaps.first == "B 940 1005 x" && gaps.last == "B 7940 10005 x")
    }

    @Test("the ids of the newest trades are known, also of filled ones beyond them, until trades are lost")
    func ids() {
        var tape = Bench(10)
        tape.trade(20, "A", id: 5)
        tape.trade(21, "B")
        #expect(tape.id("A") == 5 && tape.id("B") == nil)
        tape.trade(22, "A", "B", marks: .filled, id: 7)
        tape.trade(23, "A", marks: .filled, id: 6)
        #expect(tape.id("A") == 7 && tape.id("B") == nil)
        tape.lose()
        tape.trade(24, "A", marks: .filled, id: 8)
        #expect(tape.id("A") == nil)
        tape.trade(25, "A", "B", id: 9)
        tape.keep("A")
        #expect(tape.id("A") == 9 && tape.id("B") == nil)
    }

    @Test("a gap of all symbols ends all doubts")
    func named() {
        var tape = Bench(10)
        tape.change(10, .live)
        tape.trade(12, "A", "B")
        tape.change(20, .reconnecting(attempt: 1, retryAt: 0))
        tape.gap(12, 30)
        tape.change(30, .live)
        tape.trade(30, "A")
        #expect(tape.take("A", "B") == [])
    }

    @Test("the open outage can be named up to a time, for the symbols that have not traded in it")
    func later() {
        var tape = Bench(10)
        tape.subscribe(10, "B")
        tape.subscribe(10, "C")
        tape.change(10, .connecting)
        tape.gap(10, 12)
        tape.trade(12, "A")
        tape.trade(14, "C")
        #expect(tape.take("B", "C", to: 20) == ["B 12 20 x"])
    }

    @Test("nothing is kept of symbols to which the ingest does not subscribe, such as after the end of a subscription")
    func unknown() {
        var tape = Bench(10)
        tape.trade(20, "A", "B", id: 1)
        tape.release("A")
        tape.straggle(30, "A", id: 2)
        #expect(tape.proven == 30 && tape.id("A") == nil && tape.proven("A") == 10)
        tape.subscribe(40, "A")
        #expect(tape.id("A") == nil && tape.id("B") == 1)
    }

    @Test("what a symbol has missed in a short outage is named, too, but not the time between two readings of a clock")
    func shortOutage() {
        var tape = TapeCompleteness(0)
        for (symbol, last) in [("A", 700), ("B", 950)] as [(String, Int64)] {
            tape.subscribed(symbol, at: 0)
            tape.gapFound(Gap(from: 0, to: last * 1_000_000, reason: "", nextSequence: 0, symbol: symbol))
        }
        tape.changed(to: .live, at: 0)
        tape.changed(to: .reconnecting(attempt: 1, retryAt: 0), at: 800_000_000)
        tape.changed(to: .live, at: 1_000_000_000)
        let gaps = tape.takeOutageGaps(of: ["A", "B"], Gap(from: 0, to: 0, reason: "", nextSequence: 0))
        #expect(gaps.map(\.symbol) == ["A"] && gaps.map(\.length) == [300_000_000])
    }

    @Test("no more symbols are kept than have numbers")
    func bound() {
        var tape = Bench(0)
        for index in 0..<SymbolTable.capacity { tape.gap(0, 10, "S\(index)") }
        tape.trade(20, "X")
        #expect(tape.proven == 20 && tape.proven("X") == 0 && tape.proven("S1") == 10)
        tape.release("S0")
        tape.trade(21, "X")
        #expect(tape.proven("X") == 21)
    }
}
