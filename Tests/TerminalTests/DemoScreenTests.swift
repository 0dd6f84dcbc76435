import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The screen of the demo")
struct DemoScreenTests {
    private static func lines(
        _ columns: Int,
        _ rows: Int,
        hints: [String] = PersonAtScreen(remote: .sample { $0.live = .can { nil } }).choice.liveHints,
        source: FeedStatus.Source = .demo,
        change: (inout DisplayState) -> Void = { _ in }
    ) -> [String] {
        var state = DisplayState(rows: [sampleRow(sampleSummary("X:A"))], status: sampleStatus(.live, source))
        state.status.reason = "the bundled recording; start with --from venue"
        change(&state)
        var choice = DisplayChoice()
        choice.liveHints = hints
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        let frame = DisplayView.frame(of: state, choice: choice, size: size, now: sampleNoon)
        return (0..<rows).map(frame.grid.line)
    }

    @Test("says in one line how to see the live market, as wide as the screen is", arguments: [(200, 50), (100, 30)])
    func wide(columns: Int, rows: Int) {
        let lines = Self.lines(columns, rows)
        #expect(lines[0].contains("DEMO"))
        #expect(lines[1].hasPrefix("This is the bundled recording, not the market: v shows the live market"))
    }

    @Test(
        "says it in few words on a narrow screen",
        arguments: [(40, "v: the live market, no key needed"), (20, "v: live market")]
    )
    func narrow(columns: Int, words: String) {
        #expect(Self.lines(columns, 10)[1].hasPrefix(words))
    }

    @Test("says how far the way to the live market is, in place of the key")
    func begun() {
        let words = "the live market cannot be reached: Binance: no route; attempt 2 follows; the demo goes on"
        let lines = Self.lines(60, 20) { $0.liveStart = words }
        #expect(lines[0].contains("DEMO"))
        #expect("\(lines[1]) \(lines[2])".split(separator: " ").joined(separator: " ").hasPrefix(words))
        #expect(!lines.joined().contains("v shows"))
    }

    @Test("says where the live market is if no key leads there, as in watch")
    func withoutKey() {
        #expect(Self.lines(100, 30, hints: [])[1].hasPrefix("the bundled recording; start with --from venue"))
    }

    @Test(
        "has no such line where the source is another",
        arguments: [FeedStatus.Source.live, .replay(file: "a", speed: 1)]
    )
    func others(source: FeedStatus.Source) {
        #expect(!Self.lines(100, 30, source: source).joined().contains("live market"))
    }
}
