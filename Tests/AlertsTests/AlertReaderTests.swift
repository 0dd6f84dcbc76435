import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import Wire
@testable import Alerts
@testable import Measurements

@Suite("The reader for alerts", .timeLimit(.minutes(1 * Patience.factor)))
struct AlertReaderTests {
    private struct Bench {
        let board: AlertBoard
        let reader: AlertReader
        let loop: any EventLoop
        let fired = NIOLockedValueBox<[Alert]>([])
        let lists = NIOLockedValueBox<[[ListedAlert]]>([])
        let kept = NIOLockedValueBox<[AlertState]>([])
        let clock = NIOLockedValueBox<Int64>(0)

        init(_ rules: String..., isReplay: Bool = true) throws {
            self.board = AlertBoard(rules: try rules.map { try AlertRule($0) })
            self.loop = MultiThreadedEventLoopGroup.singleton.next()
            var settings = AlertEvaluator.Settings()
            settings.isReplay = isReplay
            settings.cooldown = 0
            var actions = AlertReader.Actions()
            actions.fired = [{ [fired] alert in fired.withLockedValue { $0.append(alert) } }]
            actions.listChanged = { [lists] list in lists.withLockedValue { $0.append(list) } }
            actions.keep = { [kept] memory in kept.withLockedValue { $0.append(memory) } }
            self.reader = AlertReader(
                board: self.board,
                loop: self.loop,
                settings: settings,
                symbols: ["A:X"],
                actions: actions,
                registry: MetricRegistry(),
                wallClock: { [clock] in clock.withLockedValue { $0 } }
            )
        }

        func play(_ batches: [TapeBatch]) async throws {
            try await self.loop.submit { for batch in batches { self.reader.read(batch) } }.get()
        }

        var lines: [String] {
            self.fired.withLockedValue { $0.map { "\($0.time) \($0.rule) \($0.reason) \($0.count)" } }
        }
    }

    @Test("the same frames in batches of any size give the same alerts")
    func batches() async throws {
        var numbers = SeededGenerator(seed: 3)
        var price = 10_000
        let frames = (0..<600).map { step in
            price += Int.random(in: -60...60, using: &numbers)
            let symbol = ["A:X", "A:Y"].randomElement(using: &numbers) ?? ""
            let gap = step % 97 == 0 ? 70_000 : 0
            return Frames.trade(symbol, "\(price / 100).\(10 + price % 90)", time: step * 300 + gap)
        }
        var first: [String]?
        for size in [1, 600, 7, 64, 0] {
            let bench = try Bench("* moves 1% in 1m", "A:X crosses 100", "Y new high", "A:X stale", "feed back")
            var feed = BatchSource()
            var batches: [TapeBatch] = []
            var rest = frames[...]
            while !rest.isEmpty {
                let count = size == 0 ? Int.random(in: 1...40, using: &numbers) : size
                batches.append(
                    feed.batch(Array(rest.prefix(count)), received: .random(in: 0...(1 << 60), using: &numbers))
                )
                rest = rest.dropFirst(count)
            }
            try await bench.play(batches)
            #expect(bench.lines.count > 30)
            if let first { #expect(bench.lines == first) } else { first = bench.lines }
        }
    }

    @Test("a filled trade fires nothing, whatever its price and its time are")
    func filled() async throws {
        let bench = try Bench("A:X above 100", "A:X below 50", "A:X moves 5% in 1m", "A:X new high", "A:X stale")
        var feed = BatchSource()
        func filled(_ price: String, time: Int) -> TapeBatch {
            var batch = feed.batch([Frames.trade("A:X", price, time: time)])
            batch.trades[0].marks = [.filled]
            return batch
        }
        try await bench.play([feed.batch([Frames.trade("A:X", "90", time: 0)])])
        try await bench.play([filled("200", time: -500), filled("1", time: -90_000), filled("300", time: 500_000)])
        #expect(bench.lines == [])
        try await bench.play([feed.batch([Frames.trade("A:X", "91", time: 1_000)])])
        #expect(bench.lines.count == 1 && bench.lines[0].contains("new high"))
    }

    @Test("no trade is late after a replay was moved", arguments: [FeedStatus.Cause.seek, .recorded])
    func movedBack(cause: FeedStatus.Cause) async throws {
        let bench = try Bench("A:X above 100")
        var feed = BatchSource()
        try await bench.play([feed.batch([Frames.trade("A:X", "99", time: 30_000)])])
        try await bench.loop.submit {
            bench.reader.gapFound(Gap(from: 0, to: 0, reason: "r", nextSequence: 2, cause: cause))
        }.get()
        try await bench.play([feed.batch([Frames.trade("A:X", "101", time: 25_000)])])
        #expect(bench.lines.count == (cause == .seek ? 1 : 0))
        // From there on the rule holds as before.
        try await bench.play([
            feed.batch([Frames.trade("A:X", "99", time: 26_000), Frames.trade("A:X", "101", time: 25_500)])
        ])
        #expect(bench.lines.count == (cause == .seek ? 1 : 0))
    }

    @Test("alerts are set and removed from any thread, and the list shows their states")
    func board() async throws {
        let bench = try Bench()
        var feed = BatchSource()
        try bench.board.add("A:X above 100")
        try bench.board.add("* below 50 once")
        #expect(throws: AlertRule.ParseError("this alert is set already")) { try bench.board.add("A:X above 100.0") }
        #expect(throws: AlertRule.ParseError.self) { try bench.board.add("A:X over 100") }
        #expect(AlertBoard.errorText(about: "A:X above 100") == nil)
        #expect(AlertBoard.errorText(about: "above 100")?.hasPrefix("which symbol?") == true)
        #expect(bench.board.list.map(\.text) == ["A:X above 100", "* below 50 once"])
        try await bench.play([feed.batch([Frames.trade("A:X", "101")])])
        #expect(bench.board.list.map(\.state) == ["fired once, armed again at 99.9", "armed"])
        #expect(bench.board.list[0].fired != nil && bench.board.list[1].fired == nil)
        #expect(bench.lists.withLockedValue { $0.last } == bench.board.list)
        #expect(bench.board.remove("A:X above 100") && !bench.board.remove("nothing"))
        try await bench.play([feed.batch([Frames.trade("A:X", "90", time: 1), Frames.trade("A:X", "101", time: 2)])])
        #expect(bench.lines.count == 1)
        await bench.reader.finish()
        let memory = try #require(bench.kept.withLockedValue { $0.last })
        #expect(memory.rules == ["* below 50 once"])
    }

    @Test("rules of the settings are replaced, those set by key stay, and other settings of rules change no list")
    func replaced() async throws {
        let bench = try Bench("A:X above 100", "A:X above 200")
        try await bench.loop.submit {}.get()
        try bench.board.add("A:X below 5")
        bench.board.replace(rulesOfSettings: [try AlertRule("A:X above 200"), try AlertRule("A:X above 300")])
        try await bench.loop.submit {}.get()
        #expect(bench.board.list.map(\.text) == ["A:X above 200", "A:X below 5", "A:X above 300"])
        #expect(bench.board.list.map(\.state) == ["armed", "armed", "armed"])
        bench.reader.change(hysteresis: ExactDecimal(normalisedSignificand: 5, exponent: 0), cooldown: 0, quiet: nil)
        try await bench.loop.submit {}.get()
        #expect(bench.board.list.map(\.state) == ["armed", "armed", "armed"])
    }

    @Test("the number of alerts is limited, and a kept alert that is also in the settings counts once")
    func boardIsBounded() throws {
        let rules = try (0..<300).map { try AlertRule("X above \($0)") }
        let board = AlertBoard(rules: Array(rules.prefix(10)), kept: Array(rules.prefix(20)))
        #expect(board.list.count == 20 && board.keptRules.count == 10)
        for rule in rules.dropFirst(20).prefix(236) { try board.add(rule.description) }
        #expect(throws: AlertRule.ParseError("there are 256 alerts; remove one first")) { try board.add("X above 999") }
    }

    @Test("live, a timer reports silence although nothing comes")
    func silence() async throws {
        let bench = try Bench("A:X stale for 1s", isReplay: false)
        // The reader's clock starts at 0, and its timer reads it again.
        try await bench.loop.submit {}.get()
        bench.clock.withLockedValue { $0 = 1_000_000_000 }
        for _ in 0..<2_000 where bench.lines.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(bench.lines == ["1000000000 A:X stale for 1s no trade for 1s 1"])
        let refused = SymbolStatus(symbol: "A:Y", state: .refused(.noSuchSymbol, retryAt: 0), since: 0)
        try bench.board.add("A:Y stale")
        try await bench.loop.submit { bench.reader.symbolChanged(refused) }.get()
        #expect(bench.lines.count == 2)
    }

    @Test("a relay's prices are evaluated, too, under numbers of our own")
    func relayed() async throws {
        let bench = try Bench("BTCUSDT above 61000", isReplay: false)
        try await bench.loop.submit {
            bench.reader.take(.price(PriceUpdate(summary: sampleSummary("OTHER", price: "70000"), skipped: 0)))
            bench.reader.take(.snapshot(PriceUpdate(summary: sampleSummary(), skipped: 0), age: 1))
        }.get()
        #expect(bench.fired.withLockedValue { $0.map(\.symbol) } == ["BINANCE:BTCUSDT"])
    }

    @Test("a relay's price of a trade that is ahead fires nothing; the same price of another trade does")
    func relayedAhead() async throws {
        let bench = try Bench("BTCUSDT above 61000", isReplay: false)
        var summary = sampleSummary()
        summary.isAhead = true
        let ahead = StreamMessage.price(PriceUpdate(summary: summary, skipped: 0))
        // The relay's message about a price that it has shown already.
        let still = StreamMessage.trades(summary)
        summary.isAhead = false
        let genuine = StreamMessage.trades(summary)
        try await bench.loop.submit { [ahead, still].forEach(bench.reader.take) }.get()
        #expect(bench.lines.isEmpty)
        try await bench.loop.submit { bench.reader.take(genuine) }.get()
        #expect(bench.fired.withLockedValue { $0.map(\.symbol) } == ["BINANCE:BTCUSDT"])
    }

    @Test("an alert is one harmless line, one JSON message, and the terminal's own calls without foreign commands")
    func texts() throws {
        let hostile = sampleAlert(symbol: "A\u{1B}]0;x\u{07};B", reason: "\u{9B}31m one\ntwo; three")
        let line = AlertText.line(hostile)
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        let call = AlertText.call(hostile, [.bell, .osc9, .osc777, .flash, .notifySend])
        let text = String(decoding: call, as: UTF8.self)
        #expect(text.unicodeScalars.filter { $0 == "\u{07}" }.count == 1 && text.hasSuffix("\u{07}"))
        #expect(text.unicodeScalars.filter { $0 == "\u{1B}" }.count == 4)
        let parts = text.split(separator: "\u{1B}")
        #expect(parts.first?.hasPrefix("]9;") == true)
        #expect(parts.first { $0.hasPrefix("]777;notify;") }?.filter { $0 == ";" }.count == 3)
        #expect(AlertText.call(hostile, [.flash]).isEmpty)
    }

    @Test("the job queue is bounded, starts jobs in order, and counts those that do not fit")
    func queue() {
        var queue = JobQueue<Int>(capacity: 2, atOnce: 2)
        #expect(queue.isIdle)
        let (one, two, three) = (queue.add(1), queue.add(2), queue.add(3))
        #expect(one && two && !three && queue.dropped == 1)
        #expect(queue.start() == 1 && queue.start() == 2 && queue.start() == nil)
        let four = queue.add(4)
        #expect(four && queue.start() == nil)
        queue.ended()
        #expect(queue.start() == 4 && !queue.isIdle)
        queue.ended()
        queue.ended()
        #expect(queue.isIdle)
    }
}
