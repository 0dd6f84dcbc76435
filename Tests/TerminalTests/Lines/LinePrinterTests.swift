import Glibc
import Market
import Testing
import TickertapeTesting
@testable import Platform
@testable import Terminal

@Suite("The line outputs", .serialized)
struct LinePrinterTests {
    private static func pipeEnds() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("A plain line has time, symbol, price, size and state, and marks what is not the market")
    func plain() {
        var format = LineFormat(.plain, status: sampleStatus())
        func text(_ item: LineItem) -> [String] {
            let lines = format.lines(item, now: 0)
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
        #expect(text(.price(update))[0].hasSuffix("0.02 reconnecting CERTIFICATE-NOT-CHECKED DEMO\n"))
        let gap = Gap(from: sampleNoon.wall - 3 * oneSecond, to: sampleNoon.wall, reason: "no\npong", nextSequence: 4)
        #expect(text(.gap(gap)) == ["", "2026-11-21T05:31:02.123Z gap of 3 s: no␊pong\n"])
        // A symbol's problem is reported, and its end.
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
        #expect(text(.unsubscribed("X Y", since: 0)) == ["", ""] && symbol(.live) == "")
        let hostile = PriceUpdate(summary: sampleSummary("A B\n\u{9B}31m"), skipped: 0)
        #expect(text(.price(hostile))[0].contains(" A_B␊\u{FFFD}31m "))
    }

    @Test("A JSON line is the relay's message, and no control character gets through raw")
    func json() {
        var format = LineFormat(.json, status: sampleStatus())
        let lines = format.lines(.price(PriceUpdate(summary: sampleSummary("A\n\u{9B}31m"), skipped: 2)), now: 0)
        let text = String(decoding: lines.output, as: UTF8.self)
        #expect(
            text.hasPrefix(
                "{\"type\":\"price\",\"symbol\":\"A\\n\\u009b31m\",\"price\":\"61837.63\",\"size\":\"0.02\","
            )
        )
        #expect(text.hasSuffix("}\n"))
        #expect(text.contains("\"skipped\":2,"))
        let change = format.lines(.status(sampleStatus(.late)), now: 0)
        #expect(String(decoding: change.output, as: UTF8.self).hasPrefix("{\"type\":\"status\",\"state\":\"late\","))
        #expect(change.errors == [])
        let quiet = SymbolStatus(symbol: "A", state: .quiet, since: 5_000_000, reason: "no trade for 30 s")
        #expect(
            String(decoding: format.lines(.symbol(quiet), now: 0).output, as: UTF8.self)
                == #"{"type":"symbol","symbol":"A","state":"quiet","since":5,"reason":"no trade for 30 s","source":"live"}"#
                + "\n"
        )
        #expect(
            String(decoding: format.lines(.unsubscribed("A", since: 6_000_000), now: 0).output, as: UTF8.self)
                == #"{"type":"symbol","symbol":"A","state":"released","since":6,"reason":null,"source":"live"}"# + "\n"
        )
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

    @Test("A queue is taken out as it lies, empty from then on, and put in order apart from it")
    func queueTakenOut() {
        var queue = LineQueue(capacity: 2)
        for number in UInt64(1)...3 {
            queue.append(.price(PriceUpdate(summary: sampleSummary(sequence: number), skipped: 0)))
        }
        var taken = queue.takeOut()
        #expect(queue.isEmpty && queue.capacity == 2)
        queue.append(.unsubscribed("A", since: 0))
        let (items, dropped) = taken.take()
        #expect(items.count == 2 && dropped == 1)
        let (later, laterDropped) = queue.take()
        #expect(later == [.unsubscribed("A", since: 0)] && laterDropped == 0)
    }

    @Test("A queue keeps its order and its bound through any mixture, as a plain list would")
    func queueOrder() {
        var numbers = SeededGenerator(seed: 3)
        var queue = LineQueue(capacity: 7)
        var list: [LineItem] = []
        var lost: UInt64 = 0
        for number in UInt64(0)..<4_000 {
            let isPrice = Bool.random(using: &numbers) || number % 1_000 > 900
            let price = LineItem.price(PriceUpdate(summary: sampleSummary(sequence: number), skipped: 0))
            let item = isPrice ? price : .unsubscribed("\(number)", since: 0)
            queue.append(item)
            if list.count == 7 {
                list.remove(at: list.firstIndex { if case .price = $0 { true } else { false } } ?? 0)
                lost += 1
            }
            list.append(item)
            guard Int.random(in: 0..<12, using: &numbers) == 0 else { continue }
            let (items, dropped) = queue.take()
            #expect(items == list && dropped == lost && queue.isEmpty)
            (list, lost) = ([], 0)
        }
    }

    @Test("All that was printed is written before the end")
    func prints() async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer { close(reader) }
        let printer = try LinePrinter(
            .init(format: .plain),
            status: sampleStatus(),
            output: writer,
            errors: .pipe(writer)
        )
        printer.print(.status(sampleStatus(.waiting)))
        for number in UInt64(0)..<300 {
            printer.print(.price(PriceUpdate(summary: sampleSummary(sequence: number), skipped: 0)))
        }
        printer.stop()
        async let cause = printer.run()
        let text = await Reading(descriptor: reader).until { $0.split(separator: "\n").count >= 301 }
        #expect(await cause == .stopped)
        #expect(text.split(separator: "\n").count == 301)
        close(writer)
    }

    @Test(
        "One line for all tells at the end that it is the end, within the second of the line before",
        arguments: [
            LinePrinter.Settings(format: .oneline), LinePrinter.Settings(format: .waybar),
        ]
    )
    func lastLine(settings: LinePrinter.Settings) async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer { close(reader) }
        let printer = try LinePrinter(settings, status: sampleStatus(), output: writer, errors: .pipe(writer))
        async let cause = printer.run()
        printer.print(.price(PriceUpdate(summary: sampleSummary(), skipped: 0)))
        let first = await Reading(descriptor: reader).until { $0.contains("61837.63") }
        #expect(!first.contains("ended"))
        printer.print(.status(sampleStatus(.ended)))
        printer.stop()
        let rest = await Reading(descriptor: reader).until { $0.contains("ended") }
        #expect(await cause == .stopped)
        #expect(rest.split(separator: "\n").last?.contains("ended") == true, "\(first)\(rest)")
        close(writer)
    }

    @Test("Clicks on a block of i3blocks show other symbols; without their writer the lines go on")
    func clicks() async throws {
        let (reader, writer) = try Self.pipeEnds()
        let (clicks, bar) = try Self.pipeEnds()
        defer { for end in [reader, clicks] { close(end) } }
        var settings = LinePrinter.Settings(format: .i3blocks)
        settings.rotation = 3_600_000_000_000
        settings.symbols = ["A", "B"]
        settings.clicks = clicks
        let printer = try LinePrinter(settings, status: sampleStatus(), output: writer, errors: .pipe(writer))
        async let cause = printer.run()
        let lines = Reading(descriptor: reader)
        #expect(await lines.until { $0.contains("A - no trade yet") }.contains("full_text"))
        let click = #"{"name":"ticker","button":1}"# + "\n"
        #expect(write(bar, click, click.utf8.count) == click.utf8.count)
        #expect(await lines.until { $0.contains("B - no trade yet") }.contains("full_text"))
        close(bar)
        printer.print(.status(sampleStatus(.ended)))
        #expect(await lines.until { $0.contains("ended") }.contains("B - no trade yet | ended"))
        printer.stop()
        #expect(await cause == .stopped)
        close(writer)
    }

    @Test("A stopped reader delays no other; its missed lines are counted, and the newest comes last")
    func stuckReader() async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer { close(reader) }
        let printer = try LinePrinter(
            .init(format: .json),
            status: sampleStatus(),
            output: writer,
            errors: .pipe(writer),
            capacity: 50
        )
        async let cause = printer.run()
        let total = UInt64(20_000)
        let start = SystemClock.monotonic()
        for number in 1...total {
            printer.print(.price(PriceUpdate(summary: sampleSummary(sequence: number), skipped: 0)))
        }
        #expect(SystemClock.monotonic() - start < 30 * oneSecond * Int64(Patience.factor))
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
                dropped += UInt64(line.dropFirst(26).prefix { $0.isNumber }) ?? 0
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
        let printer = try LinePrinter(
            .init(format: .json),
            status: sampleStatus(),
            output: writer,
            errors: .pipe(writer)
        )
        for _ in 0..<2_000 { printer.print(.price(PriceUpdate(summary: sampleSummary(), skipped: 0))) }
        let asked = SystemClock.monotonic()
        printer.stop()
        #expect(await printer.run() == .stopped)
        #expect(SystemClock.monotonic() - asked < 10 * oneSecond * Int64(Patience.factor))
    }

    @Test("A closed pipe ends it quietly, also when there is nothing to write", arguments: [true, false])
    func closedPipe(_ writes: Bool) async throws {
        let (reader, writer) = try Self.pipeEnds()
        defer { close(writer) }
        let printer = try LinePrinter(
            .init(format: .plain),
            status: sampleStatus(),
            output: writer,
            errors: .pipe(writer)
        )
        async let cause = printer.run()
        close(reader)
        if writes { printer.print(.price(PriceUpdate(summary: sampleSummary(), skipped: 0))) }
        #expect(await cause == .closed)
    }
}

extension NoticeOutput {
    /// Returns an output that writes into a pipe.
    static func pipe(_ writer: Int32) -> NoticeOutput {
        NoticeOutput(isTerminal: false) { lines in
            _ = Array(lines.utf8).withUnsafeBytes { Glibc.write(writer, $0.baseAddress, $0.count) }
        }
    }
}
