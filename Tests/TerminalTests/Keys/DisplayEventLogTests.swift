import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The event log and the watchlist on the screen")
struct DisplayEventLogTests {
    private static func texts(_ model: DisplayModel) -> [String] { model.state.events.map(\.text) }

    @Test("Every change of status is an entry with its reason; a repeated status is not")
    func states() {
        var model = DisplayModel(symbols: [], status: sampleStatus())
        model.statusChanged(sampleStatus(.waiting), at: 1)
        model.statusChanged(sampleStatus(.waiting), at: 2)
        model.statusChanged(sampleStatus(.live), at: 3)
        let retryAt = sampleNoon.wall + oneSecond
        model.statusChanged(sampleStatus(.reconnecting(attempt: 1, retryAt: retryAt), reason: "no pong"), at: 4)
        model.statusChanged(sampleStatus(.reconnecting(attempt: 2, retryAt: retryAt), reason: "no pong"), at: 5)
        model.statusChanged(sampleStatus(.rateLimited(until: retryAt), reason: "HTTP 429"), at: 6)
        #expect(
            Self.texts(model) == [
                "waiting", "live", "reconnecting, attempt 1 at 05:31:03: no pong",
                "reconnecting, attempt 2 at 05:31:03: no pong", "rate-limited until 05:31:03: HTTP 429",
            ]
        )
        #expect(model.state.events.map(\.time) == [1, 3, 4, 5, 6])
        #expect(model.state.events.map(\.isTrouble) == [false, false, true, true, true])
    }

    @Test("An entry and a line name the relay or the ingest that supplies the trades")
    func supplied() {
        var model = DisplayModel(symbols: [], status: sampleStatus(.connecting))
        for (time, via) in ["127.0.0.1:8080", "host-a", "host-b"].enumerated() {
            var status = sampleStatus(.live)
            status.via = via
            model.statusChanged(status, at: Int64(time))
            #expect(status.sentence(marks: ["DEMO"]) == "live via \(via), DEMO")
        }
        #expect(Self.texts(model) == ["live via 127.0.0.1:8080", "live via host-a", "live via host-b"])
    }

    @Test("A failed attempt is one entry: the next one begins without a word, unless it has another reason")
    func attempts() {
        var model = DisplayModel(symbols: [], status: sampleStatus(.connecting))
        let retryAt = sampleNoon.wall + oneSecond
        for attempt in 1...3 {
            model.statusChanged(
                sampleStatus(.reconnecting(attempt: attempt, retryAt: retryAt), reason: "refused"),
                at: 4
            )
            model.statusChanged(sampleStatus(.connecting, reason: "refused"), at: 5)
        }
        model.statusChanged(sampleStatus(.rateLimited(until: retryAt), reason: "HTTP 429"), at: 6)
        model.statusChanged(sampleStatus(.connecting, reason: "HTTP 429"), at: 7)
        model.statusChanged(sampleStatus(.connecting, reason: "another tickertape holds the key"), at: 8)
        #expect(
            Self.texts(model) == [
                "reconnecting, attempt 1 at 05:31:03: refused", "reconnecting, attempt 2 at 05:31:03: refused",
                "reconnecting, attempt 3 at 05:31:03: refused", "rate-limited until 05:31:03: HTTP 429",
                "connecting: another tickertape holds the key",
            ]
        )
    }

    @Test("Where a replay was moved is an entry, and no gap and no trouble")
    func moves() {
        var model = DisplayModel(symbols: [], status: sampleStatus(.live, .replay(file: "f", speed: 1)))
        model.gapFound(Gap(from: 0, to: 9, reason: "the replay was moved back", nextSequence: 4, cause: .seek))
        #expect(model.state.events == [DisplayEvent(time: 9, text: "the replay was moved back", isTrouble: false)])
        #expect(model.state.gaps == 0 && model.state.lastGap == nil)
        model.statusChanged(sampleStatus(.waiting, .replay(file: "f", speed: 1)), at: 1)
        model.statusChanged(sampleStatus(.live, .replay(file: "f", speed: 1)), at: 2)
        model.statusChanged(sampleStatus(.ended, .replay(file: "f", speed: 1)), at: 3)
        #expect(Self.texts(model).suffix(3) == ["waiting", "PLAYING", "ENDED"])
    }

    @Test("Gaps, refused symbols and warnings are entries")
    func others() {
        var model = DisplayModel(symbols: ["X:A"], status: sampleStatus())
        model.gapFound(Gap(from: 0, to: 65 * oneSecond, reason: "no pong", nextSequence: 4))
        model.gapFound(Gap(from: 0, to: 5 * oneSecond, reason: "no trade", nextSequence: 4, symbol: "X:A"))
        func symbol(_ state: SymbolStatus.State, _ reason: String? = nil) {
            model.symbolChanged(SymbolStatus(symbol: "X:A", state: state, since: 9, reason: reason))
        }
        symbol(.asked)
        symbol(.live)
        symbol(.refused(.noSuchSymbol, retryAt: 10), "Invalid symbol")
        symbol(.refused(.noSuchSymbol, retryAt: 20), "Invalid symbol")
        symbol(.live)
        model.noticed("warning: the disk is full", now: 0, at: 11)
        #expect(
            Self.texts(model) == [
                "gap of 1m05s: no pong", "gap of X:A of 5 s: no trade", "X:A no-such-symbol: Invalid symbol",
                "X:A trades again", "warning: the disk is full",
            ]
        )
    }

    @Test("The log keeps the newest 500 entries")
    func bounded() {
        var log = DisplayEventLog()
        for number in 0..<10_000 { log.add("\(number)", isTrouble: false, at: Int64(number)) }
        #expect(log.events.count == DisplayEventLog.capacity)
        #expect(log.events.first?.text == "9500" && log.events.last?.text == "9999")
        for number in 0..<100_000 {
            log.symbolChanged(SymbolStatus(symbol: "\(number)", state: .quiet, since: 0))
        }
        #expect(log.events.count == DisplayEventLog.capacity)
    }

    @Test("A gap of any times is an entry: its length is never less than nothing, nor more than a number holds")
    func anyGap() {
        for (from, to, length) in [
            (Int64.min, Int64.max, Int64.max), (.max, .min, 0), (5, 3, 0), (-2, 3, 5), (.min, -1, .max),
        ] {
            let gap = Gap(from: from, to: to, reason: "lost", nextSequence: 0)
            #expect(gap.length == length)
            var log = DisplayEventLog()
            log.gapFound(gap)
            #expect(log.events.count == 1)
        }
    }

    @Test("An added symbol follows those that were named before it, even if it already has a row")
    func adds() {
        var model = DisplayModel(symbols: ["X:B"], status: sampleStatus())
        for symbol in ["Y:RELAY", "X:C", "X:B"] {
            model.take(PriceUpdate(summary: sampleSummary(symbol), skipped: 0), now: 1)
        }
        #expect(model.state.rows.map(\.summary.symbol) == ["X:B", "Y:RELAY", "X:C"])
        model.symbolAdded("X:C")
        #expect(model.state.rows.map(\.summary.symbol) == ["X:B", "X:C", "Y:RELAY"])
        model.symbolAdded("X:D")
        model.symbolAdded("X:D")
        #expect(model.state.waiting == ["X:D"])
        model.take(PriceUpdate(summary: sampleSummary("X:D"), skipped: 0), now: 2)
        #expect(model.state.rows.map(\.summary.symbol) == ["X:B", "X:C", "X:D", "Y:RELAY"])
        #expect(model.state.waiting == [])
        // The rows are still found by their names.
        model.take(PriceUpdate(summary: sampleSummary("Y:RELAY", price: "7"), skipped: 0), now: 3)
        #expect(model.state.rows[3].summary.price == sampleDecimal("7"))
    }

    @Test("A symbol that is removed goes, though its trades still come, and comes back when it is added again")
    func removes() {
        var model = DisplayModel(symbols: ["X:A", "X:B", "X:C"], status: sampleStatus())
        for symbol in ["X:A", "X:B"] { model.take(PriceUpdate(summary: sampleSummary(symbol), skipped: 0), now: 1) }
        model.symbolRemoved("X:A")
        model.symbolRemoved("X:C")
        model.take(PriceUpdate(summary: sampleSummary("X:A"), skipped: 0), now: 2)
        model.observe(sampleSummary("X:A"), now: 3)
        model.symbolChanged(SymbolStatus(symbol: "X:C", state: .refused(.overLimit, retryAt: 0), since: 0))
        #expect(model.state.rows.map(\.summary.symbol) == ["X:B"])
        #expect(model.state.waiting == [] && model.state.symbolStates.isEmpty)
        model.symbolAdded("X:A")
        #expect(model.state.waiting == ["X:A"])
        model.take(PriceUpdate(summary: sampleSummary("X:A"), skipped: 0), now: 4)
        #expect(model.state.rows.map(\.summary.symbol) == ["X:B", "X:A"])
    }
}
