import Foundation
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
            $0.components(separatedBy: "\u{1B}[2J").count > 3 && $0.contains("38;5;28")
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
        #expect(DisplayClock.monotonic() - start < 5 * oneSecond * Int64(Patience.factor))
        let asked = DisplayClock.monotonic()
        display.stop()
        #expect(await cause == .stopped)
        #expect(DisplayClock.monotonic() - asked < 2 * oneSecond * Int64(Patience.factor))
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

@Suite("The line outputs", .serialized)
struct LinePrinterTests {
    private static func pipeEnds() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("A plain line has time, symbol, price, size and state, and marks what is not the market")
    func plain() {
        var format = LineFormat(isJSON: false, status: sampleStatus())
        func text(_ item: LineItem) -> [String] {
            let lines = format.lines(item)
            return [String(decoding: lines.output, as: UTF8.self), String(decoding: lines.errors, as: UTF8.self)]
        }
        let update = PriceUpdate(summary: sampleSummary(), skipped: 2)
        #expect(text(.price(update)) == ["2026-11-21T05:31:02.123Z BINANCE:BTCUSDT 61837.63 0.02 live\n", ""])
        let cut = sampleStatus(
            .reconnecting(attempt: 2, retryAt: sampleNoon.wall),
            .demo,
            reason: "reset\u{1B}[2J",
            checked: false
        )
        #expect(
            text(.status(cut)) == [
                "",
                "2026-11-21T05:30:53.123Z reconnecting, attempt 2 in 9 s: reset␛[2J, DEMO, CERTIFICATE NOT CHECKED\n",
            ]
        )
        #expect(text(.price(update))[0].hasSuffix("0.02 reconnecting DEMO CERTIFICATE-NOT-CHECKED\n"))
        let gap = Gap(from: sampleNoon.wall - 3 * oneSecond, to: sampleNoon.wall, reason: "no\npong", nextSequence: 4)
        #expect(text(.gap(gap)) == ["", "2026-11-21T05:31:02.123Z gap of 3 s: no␊pong\n"])
        // A symbol is told of when it is in trouble, and when that is over.
        func symbol(_ state: SymbolStatus.State, _ reason: String? = nil) -> String {
            text(.symbol(SymbolStatus(symbol: "X Y", state: state, since: sampleNoon.wall, reason: reason)))[1]
        }
        #expect(symbol(.asked) == "" && symbol(.live) == "")
        #expect(symbol(.quiet, "no trade for 30 s") == "2026-11-21T05:31:02.123Z X_Y quiet: no trade for 30 s\n")
        #expect(symbol(.live) == "2026-11-21T05:31:02.123Z X_Y live\n")
        #expect(symbol(.live) == "")
        let retryAt = sampleNoon.wall + 300 * oneSecond
        #expect(
            symbol(.refused(.noSuchSymbol, retryAt: retryAt), "Invalid symbol X Y\u{1B}")
                == "2026-11-21T05:31:02.123Z X_Y no-such-symbol: Invalid symbol X Y␛, asked again in 5m00s\n"
        )
        #expect(text(.unwished("X Y")) == ["", ""] && symbol(.live) == "")
        let hostile = PriceUpdate(summary: sampleSummary("A B\n\u{9B}31m"), skipped: 0)
        #expect(text(.price(hostile))[0].contains(" A_B␊\u{FFFD}31m "))
    }

    @Test("A JSON line is the relay's message, and no control character gets through raw")
    func json() {
        var format = LineFormat(isJSON: true, status: sampleStatus())
        let lines = format.lines(.price(PriceUpdate(summary: sampleSummary("A\n\u{9B}31m"), skipped: 2)))
        let text = String(decoding: lines.output, as: UTF8.self)
        #expect(
            text.hasPrefix(
                "{\"type\":\"price\",\"symbol\":\"A\\n\\u009b31m\",\"price\":\"61837.63\",\"size\":\"0.02\","
            )
        )
        #expect(text.hasSuffix("}\n"))
        #expect(text.contains("\"skipped\":2,"))
        let change = format.lines(.status(sampleStatus(.late)))
        #expect(String(decoding: change.output, as: UTF8.self).hasPrefix("{\"type\":\"status\",\"state\":\"late\","))
        #expect(change.errors == [])
        let quiet = SymbolStatus(symbol: "A", state: .quiet, since: 5_000_000, reason: "no trade for 30 s")
        #expect(
            String(decoding: format.lines(.symbol(quiet)).output, as: UTF8.self)
                == #"{"type":"symbol","symbol":"A","state":"quiet","since":5,"reason":"no trade for 30 s"}"# + "\n"
        )
        #expect(format.lines(.unwished("A")).output.isEmpty)
    }

    @Test("A full queue drops its oldest price and counts it; a change of state stays")
    func queue() {
        var queue = LineQueue(capacity: 3)
        queue.append(.status(sampleStatus(.late)))
        for number in UInt64(1)...5 {
            queue.append(.price(PriceUpdate(summary: sampleSummary(sequence: number), skipped: 0)))
        }
        let (items, dropped) = queue.take()
        #expect(dropped == 3)
        #expect(items.count == 3)
        #expect(items.first == .status(sampleStatus(.late)))
        #expect(items.last == .price(PriceUpdate(summary: sampleSummary(sequence: 5), skipped: 0)))
        #expect(queue.isEmpty)
    }

    @Test("All that was printed is written before the end")
    func prints() async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer { close(reader) }
        let printer = try LinePrinter(isJSON: false, status: sampleStatus(), output: writer, errors: writer)
        printer.statusChanged(sampleStatus(.waiting))
        for number in UInt64(0)..<300 {
            printer.print(PriceUpdate(summary: sampleSummary(sequence: number), skipped: 0))
        }
        printer.stop()
        async let cause = printer.run()
        let text = await Reading(descriptor: reader).until { $0.split(separator: "\n").count >= 301 }
        #expect(await cause == .stopped)
        #expect(text.split(separator: "\n").count == 301)
        close(writer)
    }

    @Test("A reader that has stopped holds up nobody; what it missed is counted, and the newest comes last")
    func stuckReader() async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer { close(reader) }
        let printer = try LinePrinter(
            isJSON: true,
            status: sampleStatus(),
            output: writer,
            errors: writer,
            capacity: 50
        )
        async let cause = printer.run()
        let total = UInt64(20_000)
        let start = DisplayClock.monotonic()
        for number in 1...total { printer.print(PriceUpdate(summary: sampleSummary(sequence: number), skipped: 0)) }
        #expect(DisplayClock.monotonic() - start < 5 * oneSecond * Int64(Patience.factor))
        let text = await Reading(descriptor: reader).until { $0.hasSuffix("}\n") && $0.contains("\"seq\":\(total),") }
        printer.stop()
        #expect(await cause == .stopped)
        close(writer)
        var prices = UInt64(0)
        var dropped = UInt64(0)
        for line in text.split(separator: "\n") {
            if line.hasPrefix("{\"type\":\"price\"") {
                prices += 1
            } else if line.hasPrefix("{\"type\":\"dropped\",\"lines\":") {
                dropped += UInt64(line.dropFirst(26).dropLast()) ?? 0
            }
        }
        #expect(dropped > 0)
        #expect(prices + dropped == total)
    }

    @Test("A reader that never reads again does not hold up the end")
    func stuckEnd() async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer {
            close(reader)
            close(writer)
        }
        let printer = try LinePrinter(isJSON: true, status: sampleStatus(), output: writer, errors: writer)
        for _ in 0..<2_000 { printer.print(PriceUpdate(summary: sampleSummary(), skipped: 0)) }
        let asked = DisplayClock.monotonic()
        printer.stop()
        #expect(await printer.run() == .stopped)
        #expect(DisplayClock.monotonic() - asked < 2 * oneSecond * Int64(Patience.factor))
    }

    @Test("A closed pipe ends it quietly, also when there is nothing to write", arguments: [true, false])
    func closedPipe(_ writes: Bool) async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer { close(writer) }
        let printer = try LinePrinter(isJSON: false, status: sampleStatus(), output: writer, errors: writer)
        async let cause = printer.run()
        close(reader)
        if writes { printer.print(PriceUpdate(summary: sampleSummary(), skipped: 0)) }
        #expect(await cause == .closed)
    }
}
