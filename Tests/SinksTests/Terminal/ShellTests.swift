import Glibc
import Market
import Sinks
import Testing
import TickertapeTesting

private let leave = "\u{1B}[?25h\u{1B}[?1049l"
/// A state whose price has just arrived; the shell reads the real clock.
private var state: DisplayState {
    var fresh = sampleRow(sampleSummary())
    fresh.arrived = DisplayClock.monotonic()
    return DisplayState(rows: [fresh], status: sampleStatus())
}

// One after the other: signals belong to the whole process.
@Suite("The display on a real terminal", .serialized)
struct TerminalShellTests {
    @Test("It draws what is published, and a key gives the terminal back as it was", arguments: ["q", "\u{3}"])
    func quits(_ key: String) async throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let before = terminal.modes
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings())
        async let cause = display.run()
        display.publish(state)
        let drawn = await terminal.screen.until { $0.contains("61837.63") && $0.hasSuffix("\u{1B}[?2026l") }
        #expect(drawn.hasPrefix("\u{1B}[?1049h"))
        #expect(drawn.contains("LIVE"))
        #expect(terminal.modes != before)
        terminal.type(key)
        #expect(await cause == .quitKey)
        let rest = await terminal.screen.until { $0.contains(leave) }
        #expect(rest.hasSuffix(leave))
        #expect(terminal.modes == before)
    }

    @Test("A terminal is asked what is behind the text, and keys that are typed meanwhile are not lost")
    func asks() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        var settings = DisplaySettings(depth: .many)
        settings.mayAsk = true
        settings.patience = 60 * oneSecond
        let display = try TerminalDisplay(output: terminal.terminal, settings: settings)
        display.publish(state)
        async let cause = display.run()
        let asked = await terminal.screen.until { $0.contains("\u{1B}[c") }
        #expect(asked.contains("\u{1B}]11;?\u{1B}\\"))
        terminal.type("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\\u{C}\u{1B}[?62;22c")
        // The green for a light background, twice: Ctrl-L was among the answers.
        let drawn = await terminal.screen.until {
            $0.split(separator: "\u{1B}[2J", omittingEmptySubsequences: false).count > 3 && $0.contains("38;5;28")
        }
        #expect(drawn.contains("38;5;28"))
        terminal.type("q")
        #expect(await cause == .quitKey)
    }

    @Test("A terminal that does not answer gets its picture all the same")
    func noAnswer() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        var settings = DisplaySettings(depth: .many)
        settings.mayAsk = true
        settings.patience = 1_000_000
        let display = try TerminalDisplay(output: terminal.terminal, settings: settings)
        display.publish(state)
        async let cause = display.run()
        let drawn = await terminal.screen.until { $0.contains("61837.63") }
        #expect(drawn.contains("61837.63") && !drawn.contains("38;5"))
        display.stop()
        #expect(await cause == .stopped)
    }

    @Test("A state that comes long after the start is drawn when it comes")
    func drawsLate() async throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings())
        async let cause = display.run()
        #expect(await terminal.screen.until { $0.contains("\u{1B}[?1049h") }.contains("\u{1B}[?1049h"))
        // Half a second in which nothing is to come: by its end the drawing thread sleeps.
        let silence = DisplayClock.monotonic() + oneSecond / 2
        #expect(await terminal.screen.until { _ in DisplayClock.monotonic() > silence } == "")
        display.publish(state)
        #expect(await terminal.screen.until { $0.contains("61837.63") }.contains("61837.63"))
        display.stop()
        #expect(await cause == .stopped)
    }

    @Test("The newest state wins, and frames keep their distance, however many are published")
    func newest() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings())
        async let cause = display.run()
        let start = DisplayClock.monotonic()
        var published = state
        for cents in 0..<50_000 {
            published.rows[0].summary.price = ExactDecimal(significand: Int64(6_000_000 + cents), exponent: -2) ?? .zero
            published.rows[0].arrived = DisplayClock.monotonic()
            display.publish(published)
        }
        published.rows[0].summary.price = sampleDecimal("77777.77")
        display.publish(published)
        let drawn = await terminal.screen.until { $0.contains("77777.77") || $0.contains("7777.77") }
        #expect(drawn.contains("7777.77"))
        let frames = drawn.split(separator: "\u{1B}[?2026h").count
        #expect(frames <= Int((DisplayClock.monotonic() - start) / 100_000_000) + 2)
        display.stop()
        #expect(await cause == .stopped)
    }

    @Test("A terminal that has stopped reading holds up neither the feed nor the end")
    func stuck() async throws {
        let terminal = try PseudoTerminal(columns: 1_000, rows: 400)
        let before = terminal.modes
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings(framesPerSecond: 60))
        async let cause = display.run()
        // Nobody reads; a pseudo-terminal holds some kilobytes, and the first frame has more.
        var full = state
        full.rows = (0..<390).map { sampleRow(sampleSummary("VENUE:SYMBOL\($0)")) }
        let start = DisplayClock.monotonic()
        for _ in 0..<10_000 { display.publish(full) }
        #expect(DisplayClock.monotonic() - start < 20 * oneSecond * Int64(Patience.factor))
        let asked = DisplayClock.monotonic()
        display.stop()
        #expect(await cause == .stopped)
        #expect(DisplayClock.monotonic() - asked < 10 * oneSecond * Int64(Patience.factor))
        #expect(terminal.modes == before)
    }

    @Test("A display that is stopped before it runs ends at once")
    func stopsEarly() async throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings())
        display.stop()
        #expect(await display.run() == .stopped)
    }

    @Test("A pipe is no terminal")
    func refuses() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        #expect(throws: TerminalError.self) { try TerminalDisplay(output: ends[1], settings: DisplaySettings()) }
    }

    @Test("A terminal that goes away ends the display")
    func hangsUp() async throws {
        var terminal: PseudoTerminal? = try PseudoTerminal(columns: 80, rows: 24)
        let own = dup(try #require(terminal?.terminal))
        defer { close(own) }
        let display = try TerminalDisplay(output: own, settings: DisplaySettings())
        async let cause = display.run()
        display.publish(state)
        let drawn = await terminal?.screen.until { $0.contains("LIVE") }
        #expect(drawn?.contains("LIVE") == true)
        terminal = nil
        #expect(await cause == .hangup)
    }
}
