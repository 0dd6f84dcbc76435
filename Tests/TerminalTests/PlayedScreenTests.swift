import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The screen of another source than the market")
struct PlayedScreenTests {
    static let sizes = [(20, 1), (20, 5), (40, 1), (40, 10), (80, 24), (200, 60)]

    private static func state(
        _ source: FeedStatus.Source,
        _ phase: FeedStatus.Phase = .live,
        isPaused: Bool = false,
        symbols: Int = 1
    ) -> DisplayState {
        var model = DisplayModel(symbols: [], status: sampleStatus(phase, source))
        for number in 0..<symbols {
            let summary = sampleSummary(number == 0 ? "BINANCE:BTCUSDT" : "X:\(number)")
            model.take(PriceUpdate(summary: summary, skipped: 0), now: sampleNoon.monotonic - 3 * oneSecond)
            model.symbolChanged(SymbolStatus(symbol: summary.symbol, state: .live, since: 0))
        }
        let position = ReplayPosition(
            start: sampleNoon.wall - 900 * oneSecond,
            end: sampleNoon.wall,
            at: sampleNoon.wall - oneSecond,
            speed: 10,
            isPaused: isPaused
        )
        model.replayMoved(position, now: sampleNoon.monotonic - 3 * oneSecond)
        model.replayMoved(position, now: sampleNoon.monotonic)
        return model.state
    }

    private static func frame(_ state: DisplayState, _ size: (Int, Int), after seconds: Int64 = 0) -> DisplayFrame {
        DisplayView.frame(
            of: state,
            size: ScreenGrid.Size(columns: size.0, rows: size.1),
            now: Moment(
                monotonic: sampleNoon.monotonic + seconds * oneSecond,
                wall: sampleNoon.wall + seconds * oneSecond
            ),
            look: DisplayLook(setsTitle: true)
        )
    }

    private static func text(_ frame: DisplayFrame) -> String {
        (0..<frame.grid.size.rows).map(frame.grid.line).joined(separator: "\n")
    }

    static let sources: [(FeedStatus.Source, String)] = [
        (.replay(file: "/x/btc.jsonl", speed: 10), "PLAYING"), (.demo, "DEMO"),
        (.simulated(seed: 7, speed: 10), "SIMULATED"),
    ]

    @Test(
        "shows its source in whole words on any screen, never LIVE, and without green",
        arguments: Self.sources
    )
    func words(_ source: FeedStatus.Source, _ word: String) {
        for size in Self.sizes {
            for symbols in [1, 3] {
                for (state, said) in [
                    (Self.state(source, symbols: symbols), word),
                    (Self.state(source, isPaused: true, symbols: symbols), "PAUSED"),
                    (Self.state(source, .ended, isPaused: true, symbols: symbols), "ENDED"),
                ] {
                    let frame = Self.frame(state, size)
                    let text = Self.text(frame)
                    #expect(text.contains(said) && !text.contains("LIVE"), "\(size) \(text)")
                    #expect(text.contains("61837.63"), "\(size) \(text)")
                    #expect(!frame.grid.cells.contains { $0.style.ink == .good }, "\(size) \(text)")
                    #expect(frame.grid.title?.contains(said) == true, "\(frame.grid.title ?? "")")
                }
            }
        }
    }

    @Test("says its speed also while it is paused, the one that a key has just chosen", arguments: Self.sources)
    func pausedSpeed(_ source: FeedStatus.Source, _ word: String) {
        var state = Self.state(source, isPaused: true)
        for (speed, said) in [(10.0, "10x"), (0.25, "0.25x"), (nil, "max")] as [(Double?, String)] {
            state.replay?.speed = speed
            for size in [(100, 1), (60, 4), (80, 24), (200, 60)] {
                let text = Self.text(Self.frame(state, size))
                #expect(text.contains("PAUSED") && text.contains(said), "\(size) \(text)")
            }
        }
    }

    @Test("counts no seek as a gap, however often it is moved")
    func seeks() {
        var model = DisplayModel(symbols: ["X:A"], status: sampleStatus(.live, .replay(file: "f", speed: 1)))
        model.take(PriceUpdate(summary: sampleSummary("X:A"), skipped: 0), now: sampleNoon.monotonic)
        for _ in 0..<3 {
            model.gapFound(
                Gap(from: 0, to: sampleNoon.wall, reason: "the replay was moved", nextSequence: 5, cause: .seek)
            )
        }
        let frame = Self.frame(model.state, (80, 24))
        #expect(model.state.gaps == 0 && !Self.text(frame).contains("gap"), "\(Self.text(frame))")
        #expect(model.state.events.allSatisfy { !$0.isTrouble })
    }

    @Test("the market is live, and green")
    func market() {
        let frame = Self.frame(Self.state(.live), (80, 24))
        #expect(Self.text(frame).contains("● LIVE") && frame.grid.cells.contains { $0.style.ink == .good })
    }

    @Test("at the end of a replay prices are those of then, and grow no older", arguments: Self.sources)
    func ended(_ source: FeedStatus.Source, _ word: String) {
        let state = Self.state(source, .ended, isPaused: true)
        for size in Self.sizes {
            let first = Self.frame(state, size)
            let later = Self.frame(state, size, after: 7_200)
            #expect(Self.text(first) == Self.text(later), "\(size)")
            let text = Self.text(later).replacing("SIMULATED", with: "")
            for old in ["OLD", "LATE", "STALE"] { #expect(!text.contains(old), "\(size)") }
            #expect(!later.grid.cells.contains { $0.style.attributes.contains(.struck) })
            #expect(later.grid.title?.contains("OLD") == false)
        }
        // The status of a quiet symbol is final.
        var quiet = state
        quiet.symbolStates["BINANCE:BTCUSDT"] = SymbolStatus(symbol: "BINANCE:BTCUSDT", state: .quiet, since: 0)
        #expect(Self.text(Self.frame(quiet, (80, 24))).contains("QUIET"))
    }
}
