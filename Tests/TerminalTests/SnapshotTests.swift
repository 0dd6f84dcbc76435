import Market
import Testing
import TickertapeTesting
@testable import Measurements
@testable import Terminal

@Suite("Snapshots of the screen")
struct SnapshotTests {
    static let sizes: [(Int, Int)] = [(20, 1), (40, 10), (80, 24), (200, 60)]

    /// Returns the text of a screen, with a border.
    private static func screen(
        _ state: DisplayState,
        _ choice: DisplayChoice,
        _ columns: Int,
        _ rows: Int,
        _ look: DisplayLook,
        _ latency: LatencyReport?
    ) -> String {
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        let grid = DisplayView.frame(
            of: state,
            choice: choice,
            size: size,
            now: sampleNoon,
            look: look,
            latency: latency
        ).grid
        return (["== \(columns)x\(rows)"] + (0..<rows).map { "|" + grid.line($0) }).joined(separator: "\n")
    }

    private static func check(
        _ name: String,
        _ state: DisplayState,
        _ choice: DisplayChoice = DisplayChoice(),
        sizes: [(Int, Int)] = Self.sizes,
        look: DisplayLook = DisplayLook(),
        latency: LatencyReport? = nil
    ) throws {
        let screens = sizes.map { Self.screen(state, choice, $0.0, $0.1, look, latency) }
        try SnapshotFile.check(name, screens.joined(separator: "\n"))
    }

    // MARK: States

    static let one = DisplayState(
        rows: [sampleSession(sampleRow(sampleSummary()))],
        status: sampleStatus(.live),
        relay: .open("127.0.0.1:8080"),
        clients: 2
    )

    static var cut: DisplayState {
        var state = Self.one
        state.status = sampleStatus(
            .reconnecting(attempt: 3, retryAt: sampleNoon.wall + 4 * oneSecond),
            .live,
            reason: "connection reset by peer",
            checked: false
        )
        state.rows = [sampleSession(sampleRow(sampleSummary(), age: 40 * oneSecond), gapAt: 300)]
        state.gaps = 2
        state.lastGap = Gap(
            from: sampleNoon.wall - 7 * oneSecond,
            to: sampleNoon.wall,
            reason: "no pong",
            nextSequence: 3
        )
        return state
    }

    static var many: DisplayState {
        var state = Self.one
        state.status = sampleStatus(.live, .demo, checked: false)
        state.rows = [
            sampleSession(sampleRow(sampleSummary()), seed: 1),
            sampleSession(
                sampleRow(sampleSummary("BINANCE:ETHUSDT", price: "2510.1", open: "2515.5"), age: 7 * oneSecond),
                seed: 2
            ),
            sampleRow(sampleSummary("株式:東京", price: "0.00000951", open: "0.00001"), age: 65 * oneSecond),
        ]
        state.waiting = ["OANDA:EUR_USD"]
        return state
    }

    static var replay: DisplayState {
        var state = Self.one
        state.status = sampleStatus(.live, .replay(file: "/x/busy_btcusdt_spot_20k.jsonl", speed: 10))
        state.replay = ReplayPosition(
            start: sampleNoon.wall - 900 * oneSecond,
            end: sampleNoon.wall + 1_500 * oneSecond,
            at: sampleNoon.wall,
            speed: 10
        )
        return state
    }

    @Test("One symbol")
    func card() throws { try Self.check("card-live", Self.one) }

    @Test("One symbol without the certificate's check, of the demo")
    func unchecked() throws {
        var state = Self.one
        state.status = sampleStatus(.live, .demo, checked: false)
        try Self.check("card-demo-unchecked", state)
    }

    @Test("A feed that is cut, with a gap in the chart")
    func cutOff() throws { try Self.check("card-reconnecting", Self.cut) }

    @Test("A replay at speed, and paused")
    func replays() throws {
        try Self.check("card-replay", Self.replay)
        var paused = Self.replay
        paused.replay?.isPaused = true
        try Self.check("card-replay-paused", paused)
    }

    @Test("Prices grouped and with a comma, over a minute")
    func numbers() throws {
        var choice = DisplayChoice()
        choice.span = .minute
        let look = DisplayLook(numbers: NumberStyle(grouping: .point, decimal: .comma))
        try Self.check("card-numbers", Self.one, choice, look: look)
    }

    @Test("Candles with volumes, before and behind a gap")
    func candles() throws {
        var choice = DisplayChoice()
        choice.form = .candles
        choice.span = .fiveMinutes
        var state = Self.one
        state.rows = [sampleSession(sampleRow(sampleSummary()), gapAt: 700, hasVolume: true)]
        try Self.check("card-candles", state, choice, sizes: [(40, 10), (80, 24), (200, 60)])
        let ascii = DisplayLook(glyphs: .ascii)
        try Self.check("card-candles-ascii", state, choice, sizes: [(40, 10), (80, 24)], look: ascii)
        choice.form = .area
        try Self.check("card-volumes", state, choice, sizes: [(80, 24)])
    }

    @Test("A locale without UTF-8")
    func ascii() throws {
        try Self.check("card-ascii", Self.one, look: DisplayLook(glyphs: .ascii))
        try Self.check("table-ascii", Self.many, sizes: [(40, 10), (80, 24)], look: DisplayLook(glyphs: .ascii))
    }

    @Test("Several symbols")
    func table() throws { try Self.check("table", Self.many) }

    @Test("Several symbols, sorted, one selected, frozen")
    func chosen() throws {
        var choice = DisplayChoice()
        choice.selected = "BINANCE:ETHUSDT"
        choice.order = .price
        choice.isReversed = true
        choice.frozenSince = Moment(
            monotonic: sampleNoon.monotonic - 12 * oneSecond,
            wall: sampleNoon.wall - 12 * oneSecond
        )
        try Self.check("table-chosen-frozen", Self.many, choice)
        choice.frozenSince = nil
        choice.opened = "BINANCE:ETHUSDT"
        try Self.check("table-opened", Self.many, choice)
    }

    @Test("More symbols than lines: the selected one is to be seen")
    func scrolled() throws {
        var state = Self.one
        state.rows = (1...40).map {
            sampleSession(
                sampleRow(sampleSummary("BINANCE:COIN\($0)USDT", price: "\($0).5", open: "\($0)")),
                seconds: 90
            )
        }
        var choice = DisplayChoice()
        choice.selected = "BINANCE:COIN23USDT"
        try Self.check("table-scrolled", state, choice, sizes: [(40, 10), (80, 24)])
    }

    // MARK: Panes

    private static let help = KeyBindings().help(isReplay: true)

    static var eventful: DisplayState {
        var state = Self.one
        state.events = [
            DisplayEvent(time: sampleNoon.wall - 600 * oneSecond, text: "connected to ws.finnhub.io", isTrouble: false),
            DisplayEvent(
                time: sampleNoon.wall - 60 * oneSecond,
                text: "the key was rejected (HTTP 401): check FINNHUB_TOKEN, --token-file or `token` in the config",
                isTrouble: true
            ),
            DisplayEvent(time: sampleNoon.wall - 3 * oneSecond, text: "live again after 57 s", isTrouble: false),
        ]
        state.alerts = [
            ListedAlert(text: "BINANCE:BTCUSDT above 60000", state: "fired 3 times, armed again at 59940"),
            ListedAlert(text: "BINANCE:BTCUSDT stale 1m", state: "armed"),
        ]
        state.news = .headlines([
            DisplayHeadline(
                time: sampleNoon.wall,
                source: "CoinDesk",
                text: "Bitcoin does what nobody had expected it to do"
            ),
            DisplayHeadline(time: sampleNoon.wall - 7_200 * oneSecond, source: "Reuters", text: "株式市場は静か"),
        ])
        return state
    }

    private static var prompt: DisplayPrompt {
        var prompt = DisplayPrompt(title: "add a symbol", text: "bitc", message: "the list is of yesterday")
        prompt.suggestions = [
            .init(text: "BINANCE:BTCUSDT", note: "Binance BTC/USDT"),
            .init(text: "COINBASE:BTC-USD", note: "Coinbase BTC/USD"),
            .init(text: "KRAKEN:XBTUSD", note: "Kraken XBT/USD"),
        ]
        prompt.chosen = 1
        return prompt
    }

    private static let report = LatencyReport(
        rows: [
            LatencyReport.Row(
                path: .arrivalToScreen,
                summary: LatencyHistogram.Summary(
                    count: 9,
                    median: 101_000_000,
                    percentile99: 131_000_000,
                    maximum: 2_345_000_000
                )
            )
        ],
        clockOffset: 3_200_000_000
    )

    static let panes: [(String, DisplayPane)] = [
        ("help", .list(.help(Self.help), at: 0)), ("help-scrolled", .list(.help(Self.help), at: 9)),
        ("latency", .list(.latency, at: 0)), ("events", .list(.events, at: 0)),
        ("events-scrolled", .list(.events, at: 1)), ("news", .list(.news, at: 0)), ("alerts", .list(.alerts, at: 1)),
        ("prompt", .prompt(Self.prompt)),
    ]

    @Test("Every pane", arguments: Self.panes)
    func pane(_ name: String, _ pane: DisplayPane) throws {
        var choice = DisplayChoice()
        choice.pane = pane
        try Self.check("pane-\(name)", Self.eventful, choice, latency: Self.report)
    }

    @Test("Empty panes show a text")
    func emptyPanes() throws {
        var text: [String] = []
        for pane in [
            DisplayPane.list(.latency, at: 0), .list(.events, at: 0), .list(.news, at: 0), .list(.alerts, at: 0),
        ] {
            var choice = DisplayChoice()
            choice.pane = pane
            text.append(Self.screen(Self.one, choice, 40, 10, DisplayLook(), nil))
        }
        var failed = Self.one
        failed.news = .failed("Finnhub has no news on this plan (HTTP 403): see finnhub.io/pricing")
        var choice = DisplayChoice()
        choice.pane = .list(.news, at: 0)
        text.append(Self.screen(failed, choice, 40, 10, DisplayLook(), nil))
        try SnapshotFile.check("pane-empty", text.joined(separator: "\n"))
    }

    @Test("An alert that fires takes a line, and on a screen of few lines for a second the first")
    func alert() throws {
        var state = Self.eventful
        state.alerts[0].fired = sampleNoon.monotonic - 400_000_000
        try Self.check("alert-fires", state, sizes: [(20, 1), (40, 3), (40, 10), (80, 24)])
        state.alerts[0].fired = sampleNoon.monotonic - 12 * oneSecond
        try Self.check("alert-fired", state, sizes: [(20, 1), (40, 3), (40, 10), (80, 24)])
    }

    // MARK: Words

    @Test("Every state of the feed has its words, on a line, on five lines and in 20 columns")
    func phases() throws {
        var text: [String] = []
        for phase in everyPhase {
            var state = Self.one
            state.status = sampleStatus(phase, reason: "the reason")
            state.rows = [sampleSession(sampleRow(sampleSummary(), age: 6 * oneSecond))]
            for size in [(80, 1), (40, 5), (20, 1)] {
                text.append(Self.screen(state, DisplayChoice(), size.0, size.1, DisplayLook(), nil))
            }
        }
        try SnapshotFile.check("phases", text.joined(separator: "\n"))
    }

    @Test("Stale: the price is dimmed and struck from 30 s on, and shows its age in words")
    func stale() throws {
        var state = Self.one
        state.status = sampleStatus(.stale)
        state.rows = [sampleSession(sampleRow(sampleSummary(), age: 31 * oneSecond))]
        try Self.check("card-stale", state)
        for size in [(20, 1), (40, 10)] {
            let grid = DisplayView.frame(of: state, size: .init(columns: size.0, rows: size.1), now: sampleNoon).grid
            let line = size.1 == 1 ? 0 : 2
            #expect(grid[line, 0].style.attributes.isSuperset(of: [.dim, .struck]))
        }
    }
}
