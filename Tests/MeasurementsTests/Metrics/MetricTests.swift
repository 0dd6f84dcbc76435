import CoreMetrics
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Measurements

@Suite("Metrics")
struct MetricTests {
    private func text(_ registry: MetricRegistry) -> String {
        var text = PrometheusText()
        registry.write(to: &text)
        return String(buffer: text.buffer)
    }

    @Test("metrics of libraries through swift-metrics appear in Prometheus' format")
    func exposes() {
        let registry = MetricRegistry()
        registry.describe("hits_total", "What was hit.\nTwice.")
        Counter(label: "hits_total", dimensions: [("who", "a\"b\\c\nd")], factory: registry).increment(by: 3)
        Counter(label: "hits_total", dimensions: [("who", "a\"b\\c\nd")], factory: registry).increment()
        Gauge(label: "9 lives", factory: registry).record(1.5)
        FloatingPointCounter(label: "seconds_total", factory: registry).increment(by: 0.25)
        let meter = Meter(label: "level", factory: registry)
        meter.increment(by: 4)
        meter.decrement(by: 1)
        #expect(
            self.text(registry) == #"""
                # HELP _9_lives Counted by the library that names it.
                # TYPE _9_lives gauge
                _9_lives 1.5
                # HELP hits_total What was hit.\nTwice.
                # TYPE hits_total counter
                hits_total{who="a\"b\\c\nd"} 4
                # HELP level Counted by the library that names it.
                # TYPE level gauge
                level 3
                # HELP seconds_total Counted by the library that names it.
                # TYPE seconds_total counter
                seconds_total 0.25

                """#
        )
    }

    @Test("a timer is a histogram with cumulative buckets")
    func timers() {
        let registry = MetricRegistry()
        let timer = Timer(label: "wait_seconds", factory: registry)
        timer.recordMilliseconds(3)
        timer.recordMilliseconds(40)
        let text = self.text(registry)
        #expect(text.contains("# TYPE wait_seconds histogram\n"))
        #expect(text.contains("wait_seconds_bucket{le=\"0.0025\"} 0\nwait_seconds_bucket{le=\"0.005\"} 1\n"))
        #expect(text.contains("wait_seconds_bucket{le=\"+Inf\"} 2\nwait_seconds_sum 0.043\nwait_seconds_count 2\n"))
    }

    @Test("any number of labels takes bounded memory, and a destroyed series disappears")
    func bounds() {
        let registry = MetricRegistry()
        for number in 0..<1_000 {
            Counter(label: "a_total", dimensions: [("n", "\(number)")], factory: registry).increment()
        }
        #expect(self.text(registry).split(separator: "\n").count == MetricRegistry.maximumSeries + 2)
        let counter = Counter(label: "b_total", factory: registry)
        #expect(self.text(registry).contains("b_total"))
        counter.destroy()
        #expect(!self.text(registry).contains("b_total"))
        // A metric with the name of another kind is not counted and disturbs no other.
        Gauge(label: "a_total", factory: registry).record(5)
        #expect(self.text(registry).contains("# TYPE a_total counter"))
    }

    @Test("infinities and not-a-number are written in Prometheus' form")
    func numbers() {
        #expect(PrometheusText.text(.infinity) == "+Inf" && PrometheusText.text(-.infinity) == "-Inf")
        #expect(
            PrometheusText.text(.nan) == "NaN" && PrometheusText.text(12) == "12" && PrometheusText.text(0.5) == "0.5"
        )
    }

    @Test("the kernel's facts of the process are read, even after a name with brackets and spaces")
    func process() throws {
        let figures = ProcessFigures.read()
        #expect(try #require(figures.residentBytes) > 1_000_000)
        #expect(try #require(figures.threads) >= 1)
        #expect(try #require(figures.openDescriptors) >= 3)
        #expect(try #require(figures.startTime) > 1_600_000_000)
        #expect(try #require(figures.cpuSeconds) > 0)
        var strange = ProcessFigures()
        let rest = "S 1 2 3 0 -1 4 5 6 7 8 150 50 0 0 20 0 9 0 1000 4096 2 18446744073709551615"
        strange.take(stat: "12 (a) b (c)) \(rest)", system: "cpu 1\nbtime 500\n")
        #expect(strange.threads == 9 && strange.virtualBytes == 4_096 && strange.cpuSeconds == 2)
        #expect(strange.startTime == 510)
        var damaged = ProcessFigures()
        damaged.take(stat: "12 (a", system: "")
        #expect(damaged == ProcessFigures())
    }

    @Test("every phase of the feed has its series")
    func phases() {
        let phases: [FeedStatus.Phase] = [
            .connecting, .waiting, .live, .late, .stale, .reconnecting(attempt: 1, retryAt: 0), .rateLimited(until: 0),
            .keyRejected(retryAt: nil), .keyInUse(retryAt: 0), .noSuchSymbol, .notPermitted, .ended, .stopped,
        ]
        #expect(phases.map(\.word) == FeedStatus.Phase.words)
    }
}

@Suite("The meter of the tape")
struct TapeMeterTests {
    /// A meter on a loop whose time stands still, and its warnings.
    private func meter(_ instruments: Instruments) -> (TapeMeter, Calls, LogLines) {
        let calls = Calls()
        let lines = LogLines()
        let meter = TapeMeter(
            instruments,
            loop: EmbeddedEventLoop(),
            logger: Logger(label: "meter", factory: { _ in lines.handler }),
            warn: { calls.add($0) }
        )
        return (meter, calls, lines)
    }

    private func value(_ name: String, _ instruments: Instruments) -> String? {
        var text = PrometheusText()
        instruments.registry.write(to: &text)
        return String(buffer: text.buffer).split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    @Test("reads, gaps, states and reconnects are counted")
    func counts() {
        let instruments = Instruments()
        let (meter, _, _) = self.meter(instruments)
        var feed = BatchSource()
        meter.read(
            feed.batch([Frames.trades(Frames.element(Frames.btc, "1"), Frames.element(Frames.eth, "2")), #"{"type":"#])
        )
        var repeated = feed.batch([#"{"type":"ping"}"#])
        repeated.losses.repeatedFrames = 1
        repeated.losses.repeatedTrades = 4
        repeated.losses.possibleRepeats = 3
        repeated.losses.malformedFrames = 1
        repeated.losses.malformedElements = 2
        meter.read(repeated)
        meter.gapFound(Gap(from: 0, to: 1_500_000_000, reason: "x", nextSequence: 3, overlap: 4, cause: .lost))
        meter.gapFound(Gap(from: 0, to: 500_000_000, reason: "y", nextSequence: 4, symbol: "A", missing: 1...9))
        // The same ids may be settled again, with fewer lost ones.
        for lost in [[1...4, 6...6], [1...5, 7...9], []] as [[ClosedRange<UInt64>]] {
            meter.gapSettled(GapOutcome(symbol: "A", missing: 1...9, from: 0, to: 500_000_000, lost: lost))
        }
        let cut = FeedStatus(
            source: .live,
            phase: .reconnecting(attempt: 1, retryAt: 9),
            since: 7_500_000_000,
            reason: "our ping was not answered in time",
            cause: .pongTimeout
        )
        meter.statusChanged(cut)
        meter.statusChanged(cut)
        #expect(self.value("tickertape_trades_total", instruments) == "2")
        #expect(self.value("tickertape_frames_total", instruments) == "3")
        #expect(self.value("tickertape_malformed_frames_total", instruments) == "1")
        #expect(self.value("tickertape_malformed_trades_total", instruments) == "2")
        #expect(self.value("tickertape_repeated_frames_total", instruments) == "1")
        #expect(self.value("tickertape_repeated_trades_total", instruments) == "4")
        #expect(self.value("tickertape_possible_repeats_total", instruments) == "3")
        let repeats = instruments.history.repeats
        #expect(repeats.repeatedFrames == 1 && repeats.repeatedTrades == 4 && repeats.possibleRepeats == 3)
        #expect(self.value(#"tickertape_gaps_total{reason="lost"}"#, instruments) == "1")
        #expect(self.value(#"tickertape_gap_seconds_total{reason="lost"}"#, instruments) == "1.5")
        #expect(self.value(#"tickertape_gaps_total{reason="other"}"#, instruments) == "1")
        #expect(self.value(#"tickertape_gaps_total{reason="tls"}"#, instruments) == "0")
        #expect(self.value("tickertape_lost_trades_total", instruments) == "8")
        #expect(self.value(#"tickertape_reconnects_total{reason="pong-timeout"}"#, instruments) == "1")
        #expect(self.value(#"tickertape_reconnects_total{reason="lost"}"#, instruments) == "0")
        #expect(instruments.history.reconnects == [.pongTimeout: 1])
    }

    @Test("a clock that is far off causes one warning, in the log and at the display")
    func warns() {
        let instruments = Instruments()
        let (meter, calls, lines) = self.meter(instruments)
        var feed = BatchSource()
        for _ in 0..<100 {
            // The sample trades are from 2024.
            meter.read(feed.batch([Frames.trade(Frames.btc, "1")], received: 1_723_161_255_342_000_000 - 9_000_000_000))
        }
        #expect(calls.all == ["this machine's clock seems to be 9.0 s behind the exchange's: check NTP"])
        #expect(lines.all.count == 1)
        #expect(instruments.latency.report.clockOffset == 9_000_000_000)
    }

    @Test("a trade whose time is ahead says nothing of this machine's clock")
    func ahead() {
        let instruments = Instruments()
        let (meter, calls, _) = self.meter(instruments)
        var feed = BatchSource()
        let received: Int64 = 1_723_161_255_342_000_000 + 1_000_000
        for number in 0...100 {
            var batch = feed.batch([Frames.trade(Frames.btc, "1")], received: received)
            if number == 100 {
                batch.trades[0].exchangeTime += 3_600_000_000_000
                batch.trades[0].marks.insert(.ahead)
            }
            meter.read(batch)
        }
        #expect(calls.all.isEmpty && instruments.latency.report.clockOffset == 0)
    }

    @Test("the log has the words of all other outputs, once, with the reason and the beginning")
    func logs() {
        let (meter, _, lines) = self.meter(Instruments())
        let late = FeedStatus(
            source: .live,
            phase: .late,
            since: 1_795_239_062_123_000_000,
            reason: "connected, but no trades arrive"
        )
        meter.statusChanged(late)
        meter.statusChanged(late)
        meter.symbolChanged(
            SymbolStatus(
                symbol: "X:Y",
                state: .refused(.noSuchSymbol, retryAt: 1),
                since: 1_795_239_062_123_000_000,
                reason: "Invalid symbol X:Y"
            )
        )
        #expect(
            lines.all == [
                "notice The feed's state reason=connected, but no trades arrive since=2026-11-21T05:31:02.123Z state=late",
                "warning A symbol's state reason=Invalid symbol X:Y since=2026-11-21T05:31:02.123Z "
                    + "state=no-such-symbol symbol=X:Y",
            ]
        )
    }
}

@Suite("The log of the feed's states")
struct StateLogTests {
    private static let minute: Int64 = 60_000_000_000
    private let lines = LogLines()

    private func log() -> StateLog {
        let handler = self.lines.handler
        return StateLog(logger: Logger(label: "states", factory: { _ in handler }))
    }

    private func status(_ phase: FeedStatus.Phase, reason: String? = nil) -> FeedStatus {
        FeedStatus(source: .live, phase: phase, since: 0, reason: reason)
    }

    @Test("the lines of a hundred symbols do not displace the feed's")
    func symbols() {
        var log = self.log()
        for number in 0..<100 {
            log.symbolChanged(SymbolStatus(symbol: "S\(number)", state: .quiet, since: 0), now: 1)
        }
        log.statusChanged(self.status(.live), now: 2)
        #expect(self.lines.all.last?.hasPrefix("notice The feed's state") == true)
        #expect(self.lines.all.count < 50)
    }

    @Test("trading symbols get no line, and symbols with the same change within a second share one")
    func manySymbols() throws {
        var log = self.log()
        let second: Int64 = 1_000_000_000
        for number in 10..<60 {
            log.symbolChanged(SymbolStatus(symbol: "S\(number)", state: .asked, since: 0), now: 1)
            log.symbolChanged(SymbolStatus(symbol: "S\(number)", state: .live, since: 0), now: 2)
        }
        #expect(self.lines.all.isEmpty && log.deadline == nil)
        for number in 10..<60 {
            log.symbolChanged(SymbolStatus(symbol: "S\(number)", state: .quiet, since: 0), now: 5 * second)
        }
        #expect(log.deadline == 6 * second)
        log.timePassed(now: 6 * second)
        #expect(self.lines.all.count == 2 && self.lines.all[0].contains("symbol=S10"))
        #expect(
            self.lines.all[1].contains("state=quiet")
                && self.lines.all[1].contains("S11, S12, S13, S14, S15 and 44 more")
        )
        for number in 10..<60 {
            log.symbolChanged(SymbolStatus(symbol: "S\(number)", state: .live, since: 0), now: 9 * second)
        }
        log.timePassed(now: try #require(log.deadline))
        #expect(self.lines.all.count == 4 && self.lines.all[3].contains("state=live"))
    }

    @Test("a subscription of a symbol gets no line, since the feed's state explains it")
    func asked() {
        var log = self.log()
        log.symbolChanged(SymbolStatus(symbol: "S", state: .asked, since: 0), now: 1)
        #expect(self.lines.all.isEmpty)
    }

    @Test("the last of many quick states is logged as soon as the limit allows, with the number of omitted lines")
    func lastState() throws {
        var log = self.log()
        for attempt in 1...30 {
            log.statusChanged(self.status(.reconnecting(attempt: attempt, retryAt: 0)), now: 1)
        }
        log.statusChanged(self.status(.keyInUse(retryAt: 0)), now: 2)
        #expect(self.lines.all.allSatisfy { $0.hasPrefix("warning") && $0.contains("reconnecting") })
        let before = self.lines.all.count
        let deadline = try #require(log.deadline)
        log.timePassed(now: deadline - 1)
        #expect(self.lines.all.count == before)
        log.timePassed(now: deadline)
        #expect(self.lines.all.last == "warning The feed's state leftOut=\(30 - before) \(self.facts("key-in-use"))")
        #expect(log.deadline == nil && deadline <= 1 + Self.minute)
        log.timePassed(now: deadline + 1)
        #expect(self.lines.all.count == before + 1)
    }

    @Test("a state that was logged at once is not logged again")
    func newer() {
        var log = self.log()
        for attempt in 1...30 {
            log.statusChanged(self.status(.reconnecting(attempt: attempt, retryAt: 0)), now: 1)
        }
        log.statusChanged(self.status(.live), now: 2 + Self.minute)
        #expect(self.lines.all.last == "notice The feed's state leftOut=10 since=1970-01-01T00:00:00.000Z state=live")
        #expect(log.deadline == nil)
    }

    @Test("a reason that disappears gets no line, a different one does")
    func reasons() {
        var log = self.log()
        for reason in ["the service says: a", nil, "the service says: a", "the service says: b"] {
            log.statusChanged(self.status(.live, reason: reason), now: 1)
        }
        #expect(self.lines.all.map { $0.contains("says: b") } == [false, true])
    }

    @Test("the end is always logged", arguments: [FeedStatus.Phase.stopped, .keyRejected(retryAt: nil)])
    func end(phase: FeedStatus.Phase) {
        var log = self.log()
        for attempt in 1...30 {
            log.statusChanged(self.status(.reconnecting(attempt: attempt, retryAt: 0)), now: 1)
        }
        log.statusChanged(self.status(phase), now: 2)
        #expect(self.lines.all.last?.contains("state=\(phase.word)") == true)
    }

    private func facts(_ word: String) -> String {
        "retryAt=1970-01-01T00:00:00.000Z since=1970-01-01T00:00:00.000Z state=\(word)"
    }
}
