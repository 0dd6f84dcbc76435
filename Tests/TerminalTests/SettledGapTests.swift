import Market
import Testing
import TickertapeTesting
import Wire
@testable import Terminal

@Suite("The screen and the lines about gaps with ids")
struct SettledGapTests {
    private static let gap = Gap(
        from: sampleNoon.wall - 3 * oneSecond,
        to: sampleNoon.wall,
        reason: "12 trades missing, ids 5 to 16",
        nextSequence: 4,
        symbol: "X:A",
        missing: 5...16
    )

    private static func outcome(lost: [ClosedRange<UInt64>] = []) -> GapOutcome {
        GapOutcome(
            symbol: "X:A",
            missing: 5...16,
            from: Self.gap.from,
            to: Self.gap.to,
            lost: lost,
            reason: lost.isEmpty ? nil : "no answer"
        )
    }

    @Test("the event log and the line of gaps say what became of the last gap")
    func screen() {
        var model = DisplayModel(symbols: ["X:A"], status: sampleStatus())
        model.gapFound(Self.gap)
        model.gapSettled(Self.outcome(), at: sampleNoon.wall)
        #expect(model.log.events.last?.text == "X:A: the 12 missing trades are filled")
        #expect(model.log.events.last?.isTrouble == false)
        func lines(_ columns: Int) -> [String] {
            let size = ScreenGrid.Size(columns: columns, rows: 20)
            let frame = DisplayView.frame(of: model.state, size: size, now: sampleNoon)
            return (0..<20).map(frame.grid.line)
        }
        let words = "the 12 missing trades are filled"
        #expect(lines(120).contains { $0.contains("1 gap, the last 3 s") && $0.contains(words) })
        #expect(lines(50).contains { $0.contains("1 gap, the last 3 s") && $0.contains("filled") })
        var next = Self.gap
        next.missing = 30...31
        model.gapFound(next)
        #expect(!lines(120).contains { $0.contains("are filled") })
        model.gapSettled(Self.outcome(lost: [6...6]), at: sampleNoon.wall)
        #expect(model.log.events.last?.text == "X:A: 1 trade is lost for good, id 6: no answer")
        #expect(model.log.events.last?.isTrouble == true)
        #expect(!lines(120).contains { $0.contains("lost for good") }, "that gap is not the last one")
    }

    @Test("filled trades count in the session's trades and not in the trades a second")
    func rate() throws {
        var source = BatchSource()
        var model = DisplayModel(symbols: ["X:A"], status: sampleStatus())
        var now = sampleNoon.monotonic
        func summary(_ trades: UInt64) -> SymbolSummary {
            var summary = sampleSummary("X:A")
            summary.trades = trades
            return summary
        }
        model.take(PriceUpdate(summary: summary(1), skipped: 0), now: now)
        var filled = source.batch([String](repeating: Frames.trade("X:A", "1"), count: 500))
        for place in filled.trades.indices { filled.trades[place].marks = [.filled] }
        now += oneSecond
        model.filled(filled)
        model.observe(summary(501), now: now)
        model.observe(summary(511), now: now)
        now += oneSecond
        #expect(model.state.rows[0].summary.trades == 511)
        #expect(model.state.rows[0].rate.tenthsPerSecond(now: now) == 50)
    }

    @Test("plain lines say the outcome on standard error, JSON as a message", arguments: [false, true])
    func lines(isJSON: Bool) {
        var format = LineFormat(isJSON ? .json : .plain, status: sampleStatus())
        let lines = format.lines(.settled(Self.outcome(), at: sampleNoon.wall), now: 0)
        let output = String(decoding: lines.output, as: UTF8.self)
        let errors = String(decoding: lines.errors, as: UTF8.self)
        if isJSON {
            #expect(output.hasPrefix(#"{"type":"settled","symbol":"X:A""#), "\(output)")
            #expect(output.contains(#""source":"live""#), "\(output)")
        } else {
            #expect(errors == "2026-11-21T05:31:02.123Z X:A: the 12 missing trades are filled\n" && output == "")
        }
    }
}
