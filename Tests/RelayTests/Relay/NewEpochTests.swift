import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// A new epoch of the tape, begun when the numbers of symbols were used up; old numbers mean other symbols then.
@Suite("A new epoch of the tape, at its readers")
struct NewEpochTests {
    @Test("clients keep their symbols, whatever numbers these have now")
    func clients() throws {
        let bench = HubBench()
        let wantsA = try bench.client()
        let wantsB = try bench.client()
        try wantsA.subscribe("A")
        try wantsB.subscribe("B")
        bench.play(
            [Frames.trade("A", "1"), Frames.trade("B", "2")],
            anew: [Frames.trade("B", "3"), Frames.trade("C", "4"), Frames.trade("A", "5")]
        )
        #expect(try wantsA.takeTexts() == [Frames.trade("A", "1"), Frames.trade("A", "5")])
        #expect(try wantsB.takeTexts() == [Frames.trade("B", "2"), Frames.trade("B", "3")])
        let late = try bench.client("/?snapshot=1")
        for symbol in ["C", "B", "A"] { try late.subscribe(symbol) }
        #expect(
            try late.takeTexts() == [Frames.trade("C", "4"), Frames.trade("B", "3"), Frames.trade("A", "5")]
        )
        bench.stop()
    }

    @Test("a client of /v1/stream learns of the new epoch before its first trade; one of / gets trades only")
    func seam() throws {
        let bench = HubBench()
        let stream = try bench.pipedStream("?symbols=*&delivery=all")
        let resumable = try bench.pipedClient("/?resume=1")
        try resumable.send(#"{"type":"subscribe","symbol":"A"}"#)
        bench.play([Frames.trade("A", "1")], anew: [Frames.trade("A", "2")])
        let messages = try stream.takeTexts().map { StreamMessage.parse(ByteBuffer(string: $0)) }.suffix(3)
        guard case .trade(let before)? = messages.first, case .gap(let seam)? = messages.dropFirst().first,
            case .trade(let after)? = messages.last
        else {
            Issue.record("\(messages)")
            return
        }
        #expect(before.sequence == 1 && after.sequence == 1)
        #expect(seam.epoch == bench.hub.ring.epoch && seam.nextSequence == 1 && seam.from == seam.to)
        #expect(try resumable.takeTexts().allSatisfy { !$0.contains("gap") })
        bench.stop()
    }

    @Test("a new epoch that begins at another number is named with that number")
    func seamAtNumber() throws {
        let bench = HubBench()
        let stream = try bench.pipedStream("?symbols=*&delivery=all")
        bench.play(Frames.trade("A", "1"))
        _ = try stream.takeTexts()
        bench.hub.take(.epochBegan(9, first: 42))
        let messages = try stream.takeTexts().map { StreamMessage.parse(ByteBuffer(string: $0)) }
        guard case .gap(let seam)? = messages.last else {
            Issue.record("\(messages)")
            return
        }
        #expect(seam.epoch == 9 && seam.nextSequence == 42 && seam.from == seam.to)
        #expect(seam.reason == "the numbers begin anew")
        bench.stop()
    }

    @Test("a client that resumes over a takeover gets the rest of the former epoch, the gap, and the new epoch")
    func resumesOverTakeover() throws {
        let bench = HubBench()
        var feed = BatchSource()
        func play(_ frames: [String], epoch: UInt64, first: UInt64) {
            var batch = feed.batch(frames)
            batch.receivedMonotonic = 0
            (batch.epoch, batch.firstSequence) = (epoch, first)
            bench.hub.take([.batch(batch)])
        }
        bench.hub.take([.epochBegan(8, first: 40)])
        play([Frames.trade("A", "1"), Frames.trade("A", "2"), Frames.trade("A", "3")], epoch: 8, first: 40)
        bench.hub.take([.epochBegan(9, first: 1)])
        bench.hub.take([.gap(Gap(from: 1, to: 2, reason: "another ingest has taken over", nextSequence: 1, epoch: 9))])
        feed.beginAnew()
        play([Frames.trade("A", "4"), Frames.trade("A", "5")], epoch: 9, first: 1)
        let client = try bench.pipedStream("?symbols=A&delivery=all&since=8:40")
        bench.loop.run()
        let texts = try client.takeTexts()
        let messages = texts.map { StreamMessage.parse(ByteBuffer(string: $0)) }
        let sent = messages.compactMap { message -> String? in
            switch message {
            case .trade(let trade): "\(trade.sequence)"
            case .gap(let gap): "\(gap.reason) \(gap.epoch):\(gap.nextSequence)"
            default: nil
            }
        }
        #expect(sent == ["41", "42", "another ingest has taken over 9:1", "1", "2"], "\(texts)")
        #expect(texts.last?.contains(#""type":"resumed""#) == true && texts.last?.contains("false") == true)
        bench.stop()
    }

    @Test("a client that is catching up learns of the new epoch before its first trade")
    func seamInCatchUp() throws {
        let bench = HubBench { $0.keepQuiet() }
        for number in 1...1_000 { bench.play(Frames.trade("A", "\(number)")) }
        let since = "\(bench.hub.ring.epoch ?? 0):0"
        let client = try bench.pipedStream("?symbols=*&delivery=all&overflow=latest&since=\(since)")
        client.stopReading(fillsChannel: true)
        _ = try client.takeTexts()
        bench.play([Frames.trade("A", "1001")], anew: [Frames.trade("A", "1"), Frames.trade("A", "2")])
        client.goOnReading()
        bench.loop.run()
        let epoch = bench.hub.ring.epoch
        var isNamed = false
        var after: [UInt64] = []
        for text in try client.takeTexts() {
            switch StreamMessage.parse(ByteBuffer(string: text)) {
            case .gap(let gap) where gap.epoch == epoch: isNamed = true
            case .trade(let trade) where isNamed: after.append(trade.sequence)
            default: break
            }
        }
        #expect(after == [1, 2])
        bench.stop()
    }

    @Test("held-back prices are shown, no price goes to another symbol, and the count of skipped trades continues")
    func table() {
        var feed = BatchSource()
        let settings = PricePipeline.Settings(quiet: 100, atMost: nil)
        var table = PriceTable(SettledPrices(settings: settings, loop: EmbeddedEventLoop()))
        func texts(_ showings: [PriceTable.Showing]) -> [String] {
            showings.map { "\($0.update.summary.symbol) \($0.update.summary.price) \($0.ordinal)" }
        }
        let first = table.take(
            feed.batch([Frames.trade("A", "1"), Frames.trade("A", "2"), Frames.trade("B", "3")])
        )
        // The first price of a symbol is shown at once, the second is held back.
        #expect(texts(first) == ["A 1 1", "B 3 1"])
        feed.beginAnew()
        #expect(texts(table.epochBegan(8)) == ["A 2 2"])
        let second = table.take(feed.batch([Frames.trade("B", "4"), Frames.trade("C", "5")]))
        #expect(texts(second) == ["B 4 2", "C 5 1"])
        let third = table.take(feed.batch([Frames.trade("A", "6")]))
        #expect(texts(third) == ["A 6 3"])
        for (symbol, price) in [("A", "6"), ("B", "4"), ("C", "5")] {
            let newest = table.knownRow(of: symbol).flatMap { table.newest(row: $0) }
            #expect(newest?.summary.symbol == symbol && newest.map { "\($0.summary.price)" } == price)
        }
        #expect(table.rowCount == 3)
    }

    @Test("a filled trade before any other of its symbol has no row, and counts beside no price")
    func filledFirst() {
        var feed = BatchSource()
        let settings = PricePipeline.Settings(quiet: 0, atMost: nil)
        var table = PriceTable(SettledPrices(settings: settings, loop: EmbeddedEventLoop()))
        func take(_ frames: String..., filled: Set<Int> = []) -> [String] {
            var batch = feed.batch(frames)
            for place in filled { batch.trades[place].marks = [.filled] }
            return table.take(batch).map { "\($0.update.summary.symbol) \($0.update.summary.price) \($0.ordinal)" }
        }
        #expect(take(Frames.trade("A", "9"), filled: [0]) == [])
        #expect(table.knownRow(of: "A") == nil)
        // A row that a subscription made is given up, and another symbol takes it.
        let row = table.row(of: "A")
        #expect(take(Frames.trade("A", "9"), filled: [0]) == [])
        #expect(table.free(row) && table.row(of: "B") == row)
        #expect(
            take(Frames.trade("B", "1"), Frames.trade("A", "9"), Frames.trade("A", "2"), filled: [1]) == [
                "B 1 1", "A 2 1",
            ]
        )
        for (symbol, price) in [("A", "2"), ("B", "1")] {
            let newest = table.knownRow(of: symbol).flatMap { table.newest(row: $0) }
            #expect(
                newest?.summary.symbol == symbol && newest.map { "\($0.summary.price) \($0.ordinal)" } == "\(price) 1"
            )
        }
        // Prices have been shown for both; a filled trade is no activity.
        #expect(take(Frames.trade("A", "9"), filled: [0]) == [] && table.takeActivity().isEmpty)
        #expect(take(Frames.trade("A", "3")) == ["A 3 3"])
    }
}
