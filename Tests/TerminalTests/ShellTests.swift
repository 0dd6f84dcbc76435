import Glibc
import Market
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting
@testable import Platform
@testable import Terminal

private let leave = "\u{1B}[?25h\u{1B}[?1049l"
/// A state whose price has just arrived. The loop reads the real clock, and the price stays fresh for an hour, however
/// slow the machine is.
private var state: DisplayState {
    var fresh = sampleRow(sampleSummary())
    fresh.arrived = SystemClock.monotonic()
    var state = DisplayState(rows: [fresh], status: sampleStatus())
    state.limits.lateAfter = 3_600 * oneSecond
    state.limits.staleAfter = 3_600 * oneSecond
    return state
}

// Serialised, since signals belong to the whole process.
@Suite("The display on a real terminal", .serialized)
struct TerminalShellTests {
    @Test("It draws the published state, and a key restores the terminal", arguments: ["q", "\u{3}"])
    func quits(_ key: String) async throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let before = terminal.modes
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings(byteLimit: .none))
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

    @Test("The terminal reports the mouse only when it is wanted, and every way out switches it off")
    func mouse() async throws {
        let (on, off) = ("\u{1B}[?1000h\u{1B}[?1006h", "\u{1B}[?1006l\u{1B}[?1000l")
        for wants in [true, false] {
            let terminal = try PseudoTerminal(columns: 80, rows: 24)
            var settings = DisplaySettings(byteLimit: .none)
            settings.takesMouse = wants
            let display = try TerminalDisplay(output: terminal.terminal, settings: settings)
            async let cause = display.run()
            var shown = state
            shown.rows.append(sampleRow(sampleSummary("X:OTHER")))
            display.publish(shown)
            let drawn = await terminal.screen.until { $0.contains("61837.63") && $0.hasSuffix("\u{1B}[?2026l") }
            #expect(drawn.contains(on) == wants)
            // The second symbol's line of the table.
            let line = drawn.contains("X:OTHER") ? 5 : 0
            if !wants {
                terminal.type("M")
                _ = await terminal.screen.until { $0.contains(on) }
            }
            terminal.type("\u{1B}[<0;3;\(line)M\u{1B}[<0;3;\(line)m")
            _ = await terminal.screen.until { $0.contains("▸X:OTHER") }
            if !wants {
                terminal.type("M")
                _ = await terminal.screen.until { $0.contains(off) }
            }
            terminal.type("q")
            #expect(await cause == .quitKey)
            #expect(await terminal.screen.until { $0.contains(leave) }.contains(off))
        }
        #expect(String(decoding: TerminalModes.leave, as: UTF8.self).contains(off))
    }

    @Test("A terminal is queried for its background, and keys typed meanwhile are not lost")
    func asks() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        var settings = DisplaySettings(depth: .many, byteLimit: .none)
        settings.mayAsk = true
        settings.patience = 60 * oneSecond
        let display = try TerminalDisplay(output: terminal.terminal, settings: settings)
        display.publish(state)
        async let cause = display.run()
        let asked = await terminal.screen.until { $0.contains("\u{1B}[c") }
        #expect(asked.contains("\u{1B}]11;?\u{1B}\\"))
        // The `p` between the two answers freezes the screen.
        terminal.type("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\p\u{1B}[?62;22c")
        // The green for a light background.
        let drawn = await terminal.screen.until { $0.contains("FROZEN") && $0.contains("38;5;28") }
        #expect(drawn.contains("FROZEN") && drawn.contains("38;5;28"))
        terminal.type("q")
        #expect(await cause == .quitKey)
    }

    @Test("A terminal that does not answer gets its screen nevertheless")
    func noAnswer() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        var settings = DisplaySettings(depth: .many, byteLimit: .none)
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
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings(byteLimit: .none))
        async let cause = display.run()
        #expect(await terminal.screen.until { $0.contains("\u{1B}[?1049h") }.contains("\u{1B}[?1049h"))
        // Nothing must arrive for half a second; the drawing thread then sleeps.
        let silence = SystemClock.monotonic() + oneSecond / 2
        #expect(await terminal.screen.until { _ in SystemClock.monotonic() > silence } == "")
        display.publish(state)
        #expect(await terminal.screen.until { $0.contains("61837.63") }.contains("61837.63"))
        display.stop()
        #expect(await cause == .stopped)
    }

    @Test("The newest state wins, and frames keep their distance, however many are published")
    func newest() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings(byteLimit: .none))
        async let cause = display.run()
        let start = SystemClock.monotonic()
        var published = state
        for cents in 0..<50_000 {
            published.rows[0].summary.price = ExactDecimal(significand: Int64(6_000_000 + cents), exponent: -2) ?? .zero
            published.rows[0].arrived = SystemClock.monotonic()
            display.publish(published)
        }
        published.rows[0].summary.price = sampleDecimal("77777.77")
        display.publish(published)
        // Digits that the frame before has in the same place are not drawn again; the first three are in no other price.
        let drawn = await terminal.screen.until { $0.contains("777") }
        #expect(drawn.contains("777"))
        let frames = drawn.split(separator: "\u{1B}[?2026h").count
        #expect(frames <= Int((SystemClock.monotonic() - start) / 100_000_000) + 2)
        display.stop()
        #expect(await cause == .stopped)
    }

    @Test("While prices wait for the budget, urgent updates wake the loop at once")
    func hearsWhileResting() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        // After each frame, prices wait for a second.
        let display = try TerminalDisplay(
            output: terminal.terminal,
            settings: DisplaySettings(byteLimit: .perSecond(1))
        )
        async let cause = display.run()
        display.publish(state)
        #expect(await terminal.screen.until { $0.contains("61837.63") }.contains("61837.63"))
        var isHeard = false
        let limit = SystemClock.monotonic() + 30 * oneSecond
        // On a busy machine the rest may end before this thread runs.
        for cents in Int64(0)..<20 where !isHeard {
            var prices = state
            prices.rows[0].summary.price = ExactDecimal(significand: 6_000_000 + cents, exponent: -2) ?? .zero
            let rest = display.rest.until
            display.publish(prices)
            while !isHeard, display.rest.until == rest, SystemClock.monotonic() < limit {
                // The display has these prices, has drawn no frame since, and waits for a wake-up.
                let isWaiting = display.mailbox.withContent { $0.newest == nil } && display.mailbox.sleeps
                isHeard = isWaiting && display.rest.until == rest
                await Task.yield()
            }
        }
        #expect(isHeard)
        var cut = state
        cut.status = sampleStatus(.reconnecting(attempt: 1, retryAt: 0))
        display.publish(cut)
        #expect(await terminal.screen.until { $0.contains("RECON") }.contains("RECON"))
        display.stop()
        #expect(await cause == .stopped)
    }

    @Test("A resized terminal is redrawn, even if it has its old size again before the next frame")
    func resized() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings(byteLimit: .none))
        async let cause = display.run()
        display.publish(state)
        #expect(await terminal.screen.until { $0.contains("61837.63") && $0.hasSuffix("l") }.contains("61837.63"))
        kill(getpid(), SIGWINCH)
        let again = await terminal.screen.until { $0.contains("\u{1B}[2J") && $0.contains("61837.63") }
        #expect(again.contains("\u{1B}[2J") && again.contains("61837.63"))
        display.stop()
        #expect(await cause == .stopped)
    }

    @Test("A terminal that has stopped reading holds up neither the feed nor the end")
    func stuck() async throws {
        let terminal = try PseudoTerminal(columns: 1_000, rows: 400)
        let before = terminal.modes
        let display = try TerminalDisplay(
            output: terminal.terminal,
            settings: DisplaySettings(framesPerSecond: 60, byteLimit: .none)
        )
        async let cause = display.run()
        // The terminal is not read. A pseudo-terminal buffers some kilobytes, less than the first frame.
        var full = state
        full.rows = (0..<390).map { sampleRow(sampleSummary("VENUE:SYMBOL\($0)")) }
        let start = SystemClock.monotonic()
        for _ in 0..<10_000 { display.publish(full) }
        #expect(SystemClock.monotonic() - start < 20 * oneSecond * Int64(Patience.factor))
        let asked = SystemClock.monotonic()
        display.stop()
        #expect(await cause == .stopped)
        #expect(SystemClock.monotonic() - asked < 10 * oneSecond * Int64(Patience.factor))
        #expect(terminal.modes == before)
    }

    @Test("A terminal that has stopped reading is kept no more bells for than have a place")
    func boundedCalls() async throws {
        let terminal = try PseudoTerminal(columns: 1_000, rows: 400)
        let display = try TerminalDisplay(
            output: terminal.terminal,
            settings: DisplaySettings(framesPerSecond: 60, byteLimit: .none)
        )
        async let cause = display.run()
        var full = state
        full.rows = (0..<390).map { sampleRow(sampleSummary("VENUE:SYMBOL\($0)")) }
        display.publish(full)
        // The display begins to write, and the terminal is not read.
        #expect(await terminal.screen.until { !$0.isEmpty } != "")
        let limit = SystemClock.monotonic() + 2 * oneSecond
        for _ in 0..<40 {
            display.call([UInt8](repeating: 7, count: 2_048))
            // The loop gets time after each call, in which it could take it.
            let next = SystemClock.monotonic() + 20_000_000
            while SystemClock.monotonic() < min(next, limit), !display.mailbox.withContent({ $0.calls.isEmpty }) {
                await Task.yield()
            }
        }
        let waiting = display.mailbox.withContent { $0.calls.count }
        #expect(waiting == TerminalDisplay.maximumCallBytes)
        // The waiting bytes arrive when the terminal is read again.
        let rest = await terminal.screen.until { $0.contains("\u{7}") }
        #expect(rest.utf8.count { $0 == 7 } <= TerminalDisplay.maximumCallBytes)
        async let drained = terminal.screen.until { $0.contains(leave) }
        display.stop()
        _ = await drained
        #expect(await cause == .stopped)
    }

    @Test("A job that was stopped by SIGSTOP takes the terminal again, and the original title is saved once")
    func continued() async throws {
        let terminal = try PseudoTerminal(columns: 40, rows: 10)
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings(byteLimit: .none))
        async let cause = display.run()
        display.publish(state)
        var all = await terminal.screen.until { $0.contains("61837.63") && $0.hasSuffix("l") }
        for _ in 0..<2 {
            kill(getpid(), SIGCONT)
            let again = await terminal.screen.until { $0.contains("\u{1B}[?1049h") && $0.contains("61837.63") }
            #expect(again.contains("\u{1B}[?1049h") && again.contains("61837.63"))
            all += again
        }
        display.stop()
        #expect(await cause == .stopped)
        all += await terminal.screen.until { $0.contains(leave) }
        #expect(all.split(separator: "\u{1B}[22;0t", omittingEmptySubsequences: false).count == 2)
        #expect(all.split(separator: "\u{1B}[23;0t", omittingEmptySubsequences: false).count == 2)
    }

    @Test("A display that is stopped before it runs ends at once")
    func stopsEarly() async throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let display = try TerminalDisplay(output: terminal.terminal, settings: DisplaySettings(byteLimit: .none))
        display.stop()
        #expect(await display.run() == .stopped)
    }

    @Test("A pipe is no terminal")
    func refuses() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        #expect(throws: SystemCallFailure.self) {
            try TerminalDisplay(output: ends[1], settings: DisplaySettings(byteLimit: .none))
        }
    }

    @Test("A terminal that goes away ends the display")
    func hangsUp() async throws {
        var terminal: PseudoTerminal? = try PseudoTerminal(columns: 80, rows: 24)
        let own = dup(try #require(terminal?.terminal))
        defer { close(own) }
        let display = try TerminalDisplay(output: own, settings: DisplaySettings(byteLimit: .none))
        async let cause = display.run()
        display.publish(state)
        let drawn = await terminal?.screen.until { $0.contains("LIVE") }
        #expect(drawn?.contains("LIVE") == true)
        terminal = nil
        #expect(await cause == .closed)
    }
}
