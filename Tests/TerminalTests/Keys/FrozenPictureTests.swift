import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("A frozen screen")
struct FrozenPictureTests {
    private var controller = ScreenController(remote: .sample { $0.replay = .cannot("this is not a replay") })
    private var state = DisplayState(
        rows: ["X:A", "X:B"].map { sampleRow(sampleSummary($0)) },
        status: sampleStatus()
    )
    private var now = sampleNoon

    private mutating func press(_ key: TerminalKey) -> [ScreenCommand] {
        self.controller.took(.key(key), state: self.state, now: self.now)
    }

    /// Advances the time; the feed brings a trade every second.
    private mutating func waits(_ seconds: Int64, isTrading: Bool = true) {
        self.now.monotonic += seconds * oneSecond
        self.now.wall += seconds * oneSecond
        guard isTrading else { return }
        for index in self.state.rows.indices { self.state.rows[index].arrived = self.now.monotonic }
    }

    private var shown: DisplayState { self.controller.shown(self.state, now: self.now.monotonic) }

    private func frame(_ columns: Int = 100, _ rows: Int = 24) -> DisplayFrame {
        DisplayView.frame(
            of: self.shown,
            choice: self.controller.choice,
            size: .init(columns: columns, rows: rows),
            now: self.now,
            look: DisplayLook(setsTitle: true)
        )
    }

    private func text(_ columns: Int = 100, _ rows: Int = 24) -> String {
        let grid = self.frame(columns, rows).grid
        return (0..<rows).map(grid.line).joined(separator: "\n")
    }

    @Test("shows the feed's current status behind a frozen screen of any age, while the price's age grows")
    mutating func live() {
        _ = self.press("p")
        for seconds in [6, 30, 600] as [Int64] {
            self.waits(seconds)
            let header = self.frame().grid.line(0)
            #expect(header.contains("● LIVE") && header.contains("FROZEN"), "\(header)")
            #expect(!self.text().contains("OLD") && !self.text().contains("LATE"))
            // The price in the title is not current.
            #expect(self.frame().grid.title == "FROZEN 61837.63 A")
            #expect(self.frame().stateChangesAt.map { $0 > self.now.monotonic } ?? true)
        }
        #expect(self.text().contains("10m36s"))
        // A screen of one line shows the price's true age.
        #expect(self.frame(80, 1).grid.line(0).contains("10m36s"))
    }

    @Test("shows the silence of a feed that still reports itself as live")
    mutating func silent() {
        _ = self.press("p")
        self.waits(60)
        self.waits(40, isTrading: false)
        #expect(self.text().contains("STALE, no trade for 40 s"))
        self.state.status = sampleStatus(.late)
        #expect(self.frame().grid.line(0).contains("LATE, no trade for 40 s"))
    }

    @Test("shows the feed's new status as long as it differs")
    mutating func meanwhile() {
        _ = self.press("p")
        self.waits(34)
        #expect(!self.text().contains("meanwhile"))
        self.state.status = sampleStatus(.reconnecting(attempt: 6, retryAt: self.now.wall), reason: "no pong")
        self.state.status.since = self.now.wall
        #expect(self.text().contains("meanwhile the feed is reconnecting: no pong"))
        #expect(self.text().contains("✖ RECONNECTING, attempt 6"))
        self.waits(3_600)
        #expect(self.text().contains("meanwhile the feed is reconnecting: no pong"))
        #expect(self.text().contains("1h00m ago"))
        #expect(self.frame().grid.title?.hasPrefix("OLD ") == true)
        self.state.status = sampleStatus()
        #expect(!self.text().contains("meanwhile") && self.frame().grid.line(0).contains("● LIVE"))
    }

    @Test("that was taken of a disconnected feed shows its return, and keeps the old prices")
    mutating func recovered() {
        self.state.status = sampleStatus(.reconnecting(attempt: 1, retryAt: 0))
        _ = self.press("p")
        self.state.status = sampleStatus()
        self.waits(50)
        #expect(self.frame().grid.line(0).contains("● LIVE") && !self.text().contains("RECONNECTING"))
        #expect(self.text().contains("meanwhile the feed is live") && self.text().contains("OLD 50 s"))
    }

    @Test("does not hide newer notices: a key's answer, a warning, and then the feed's status again")
    mutating func words() {
        _ = self.press("p")
        self.waits(5)
        self.state.status = sampleStatus(.reconnecting(attempt: 1, retryAt: 0))
        self.state.status.since = self.now.wall
        self.waits(5)
        _ = self.press(" ")
        #expect(self.shown.notice?.text == "this is not a replay")
        self.waits(1)
        self.state.notice = DisplayNotice(text: "warning: the disk is full", since: self.now.monotonic)
        #expect(self.shown.notice?.text == "warning: the disk is full")
        self.waits(30)
        #expect(self.shown.notice?.text == "meanwhile the feed is reconnecting")
    }

    @Test("has the current alerts: one that fires is shown, and a removed one is gone")
    mutating func alerts() {
        let texts = ["X:A above 1", "X:A above 2", "X:A above 3"]
        self.state.alerts = texts.map { ListedAlert(text: $0, state: "armed") }
        _ = self.press("p")
        self.waits(10)
        self.state.alerts[2].fired = self.now.monotonic
        self.state.events = [DisplayEvent(time: self.now.wall, text: "something new", isTrouble: false)]
        #expect(self.text().contains("◆ ALERT X:A above 3"))
        _ = self.press("A")
        #expect(self.press("-") == [.removeAlert(0, text: "X:A above 1")])
        self.state.alerts.removeFirst()
        _ = self.controller.received(.alertRemoved("X:A above 1", problem: nil), state: self.state, now: self.now)
        #expect(!self.text().contains("▸X:A above 1") && self.text().contains("▸X:A above 2"))
        #expect(self.press("-") == [.removeAlert(0, text: "X:A above 2")])
        _ = self.press("e")
        #expect(self.text().contains("something new"))
    }
}

@Suite("A paused replay on the screen")
struct PausedPictureTests {
    private static func position(isPaused: Bool) -> ReplayPosition {
        ReplayPosition(
            start: sampleNoon.wall,
            end: sampleNoon.wall + 3_600 * oneSecond,
            at: sampleNoon.wall,
            speed: 1,
            isPaused: isPaused
        )
    }

    private static func frame(_ model: DisplayModel, after seconds: Int64, rows: Int = 24) -> (DisplayFrame, String) {
        let now = Moment(
            monotonic: sampleNoon.monotonic + seconds * oneSecond,
            wall: sampleNoon.wall + seconds * oneSecond
        )
        let size = ScreenGrid.Size(columns: 80, rows: rows)
        let frame = DisplayView.frame(of: model.state, size: size, now: now, look: DisplayLook(setsTitle: true))
        return (frame, (0..<rows).map(frame.grid.line).joined(separator: "\n"))
    }

    private static func model(_ source: FeedStatus.Source) -> DisplayModel {
        var model = DisplayModel(symbols: ["X:A", "X:B"], status: sampleStatus(.live, source))
        // The feed has a status for one symbol and none for the other.
        model.symbolChanged(SymbolStatus(symbol: "X:A", state: .live, since: 0))
        for symbol in ["X:A", "X:B"] {
            model.take(PriceUpdate(summary: sampleSummary(symbol), skipped: 0), now: sampleNoon.monotonic)
        }
        model.replayMoved(Self.position(isPaused: false), now: sampleNoon.monotonic)
        return model
    }

    @Test(
        "is neither late nor stale nor old, however long it does",
        arguments: [FeedStatus.Source.demo, .replay(file: "x.jsonl", speed: 1)]
    )
    func paused(_ source: FeedStatus.Source) {
        var model = Self.model(source)
        #expect(Self.frame(model, after: 60).1.contains("STALE"))
        model.replayMoved(Self.position(isPaused: true), now: sampleNoon.monotonic + oneSecond)
        for seconds in [9, 36, 60, 7_200] as [Int64] {
            let (frame, text) = Self.frame(model, after: seconds)
            #expect(frame.grid.line(0).contains("◌ PAUSED") && !frame.grid.line(0).contains("LIVE"), "\(text)")
            for word in ["LATE", "STALE", "OLD"] { #expect(!text.contains(word), "\(text)") }
            #expect(frame.grid.title?.contains("OLD") == false && frame.grid.title?.contains("LATE") == false)
            #expect(frame.stateChangesAt == nil)
            #expect(Self.frame(model, after: seconds, rows: 1).1.contains("61837.63"))
        }
        // Its age is displayed nevertheless.
        #expect(Self.frame(model, after: 60).1.contains("1m00s"))
    }

    @Test(
        "shows the pause even after a silence, and continues the silence afterwards",
        arguments: [FeedStatus.Phase.late, .stale]
    )
    func silentBefore(_ phase: FeedStatus.Phase) {
        var model = Self.model(.replay(file: "x.jsonl", speed: 1))
        model.statusChanged(sampleStatus(phase, .replay(file: "x.jsonl", speed: 1)))
        #expect(Self.frame(model, after: 40).0.grid.line(0).contains(phase == .late ? "LATE" : "STALE"))
        model.replayMoved(Self.position(isPaused: true), now: sampleNoon.monotonic + 40 * oneSecond)
        for seconds in [41, 7_200] as [Int64] {
            let (frame, text) = Self.frame(model, after: seconds)
            #expect(frame.grid.line(0).contains("◌ PAUSED") && !frame.grid.line(0).contains("LIVE"), "\(text)")
            for word in ["LATE", "STALE", "OLD"] { #expect(!text.contains(word), "\(text)") }
        }
        model.replayMoved(Self.position(isPaused: false), now: sampleNoon.monotonic + 7_200 * oneSecond)
        #expect(Self.frame(model, after: 7_201).1.contains("no trade for 41 s"))
        #expect(Self.frame(model, after: 7_201).1.contains("OLD"))
    }

    @Test("continues its silence without the pause")
    func resumed() {
        var model = Self.model(.demo)
        model.replayMoved(Self.position(isPaused: true), now: sampleNoon.monotonic + oneSecond)
        model.replayMoved(Self.position(isPaused: false), now: sampleNoon.monotonic + 60 * oneSecond)
        let (frame, text) = Self.frame(model, after: 62)
        #expect(frame.grid.line(0).contains("● PLAYING") && !text.contains("OLD") && !text.contains("LATE"), "\(text)")
        #expect(Self.frame(model, after: 67).1.contains("LATE, no trade for 8 s"))
        #expect(Self.frame(model, after: 92).1.contains("STALE, no trade for 33 s"))
        // Repeated pauses have the same effect.
        for number in Int64(0)..<100 {
            let at = sampleNoon.monotonic + (100 + number * 10) * oneSecond
            model.replayMoved(Self.position(isPaused: true), now: at)
            model.replayMoved(Self.position(isPaused: true), now: at + oneSecond)
            model.replayMoved(Self.position(isPaused: false), now: at + 10 * oneSecond)
        }
        #expect(Self.frame(model, after: 1_110).1.contains("STALE, no trade for 51 s"))
    }

    @Test("has a current bar behind a frozen screen, like its mark and its status")
    func frozen() {
        var model = Self.model(.replay(file: "x.jsonl", speed: 1))
        var controller = ScreenController(remote: .sample())
        _ = controller.took(.key("p"), state: model.state, now: sampleNoon)
        var position = Self.position(isPaused: true)
        position.at = sampleNoon.wall + 1_800 * oneSecond
        model.replayMoved(position, now: sampleNoon.monotonic + oneSecond)
        let state = controller.shown(model.state, now: sampleNoon.monotonic + oneSecond)
        let size = ScreenGrid.Size(columns: 80, rows: 24)
        let frame = DisplayView.frame(of: state, choice: controller.choice, size: size, now: sampleNoon)
        let text = (0..<24).map(frame.grid.line).joined(separator: "\n")
        #expect(text.contains("PAUSED") && text.contains("50% of 1h00m"), "\(text)")
    }
}
