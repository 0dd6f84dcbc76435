import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("Trades of earlier runs, as clients of the relay get them")
struct EarlierTradesTests {
    /// Returns a bench that has read its recording: trades 5 to 8 of the epoch 3, alternately of A and B.
    private func bench() throws -> HubBench {
        let bench = HubBench()
        bench.hub.ring = TradeRing(epoch: 7)
        var symbols = SymbolTable()
        let size = try #require(ExactDecimal(significand: 1, exponent: 0))
        var trades: [Trade] = []
        for index in 0..<4 {
            let price = try #require(ExactDecimal(significand: Int64(index + 1), exponent: 0))
            let id = symbols.intern(index % 2 == 0 ? "A" : "B")
            trades.append(
                Trade(price: price, size: size, exchangeTime: Int64(index) * 1_000_000, symbol: try #require(id))
            )
        }
        let now = bench.hub.wallClock()
        bench.hub.remember([
            RecordedTrades(
                epoch: 3,
                first: 5,
                trades: trades,
                received: Array(repeating: now - 1_000_000_000, count: 4),
                symbols: symbols
            )
        ])
        return bench
    }

    private func places(_ excerpt: TradeExcerpt?) -> [String]? {
        excerpt?.items.map { "\($0.epoch ?? 7):\($0.sequence)" }
    }

    @Test("before a symbol's first trade of this run the last run's trades are returned, and then both")
    func tellsBoth() throws {
        let bench = try self.bench()
        #expect(self.places(bench.hub.trades(of: "A", limit: 100)) == ["3:5", "3:7"])
        #expect(bench.hub.trades(of: "C", limit: 100) == nil)
        var feed = BatchSource()
        var batch = feed.batch([Frames.trade("A", "9"), Frames.trade("C", "9")])
        // On the bench's clock, like the recording's trades.
        batch.receivedMonotonic = 0
        bench.hub.take([.batch(batch)])
        #expect(self.places(bench.hub.trades(of: "A", limit: 100)) == ["3:5", "3:7", "7:1"])
        #expect(self.places(bench.hub.trades(of: "A", limit: 2)) == ["3:7", "7:1"])
        #expect(self.places(bench.hub.trades(of: "A", limit: 1)) == ["7:1"])
        #expect(self.places(bench.hub.trades(of: "B", limit: 1)) == ["3:8"])
        let excerpt = try #require(bench.hub.trades(of: "A", limit: 2))
        let body = String(buffer: StatusAnswers.trades(excerpt))
        #expect(body.hasPrefix(#"{"symbol":"A","epoch":7,"#), "\(body)")
        #expect(body.contains(#""trades":[{"epoch":3,"seq":7,"#) && body.contains(#"},{"seq":1,"#), "\(body)")
        bench.stop()
    }

    @Test(
        "a symbol resumed by its price comes after the gap between the runs, also beside one with single trades"
    )
    func resumesBehindGap() throws {
        let bench = try self.bench()
        var feed = BatchSource()
        var batch = feed.batch([Frames.trade("A", "9"), Frames.trade("B", "9")])
        batch.receivedMonotonic = 0
        bench.hub.take([.batch(batch)])
        let client = try bench.pipedStream()
        try client.send(#"{"type":"subscribe","symbol":"A","delivery":"all"}"#)
        try client.send(#"{"type":"subscribe","symbol":"B"}"#)
        _ = try client.takeTexts()
        try client.send(#"{"type":"subscribe","symbols":["A","B"],"since":"3:5"}"#)
        bench.loop.run()
        let texts = try client.takeTexts()
        let kinds = texts.map { $0.split(separator: "\"")[3] }
        #expect(kinds == ["subscribed", "trade", "gap", "trade", "snapshot", "resumed"], "\(texts)")
        #expect(
            texts.contains { $0.contains(#""symbol":"B","price":"9","#) && $0.contains(#""skipped":3,"#) },
            "\(texts)"
        )
        #expect(texts.last?.contains(#""trades":5,"complete":false}"#) == true, "\(texts)")
        bench.stop()
    }

    @Test("the gap before a run whose numbers are those of a cluster's ingest names its first trade")
    func gapOfEdge() throws {
        let bench = try self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all")
        _ = try client.takeTexts()
        var feed = BatchSource()
        var batch = feed.batch([Frames.trade("A", "9")])
        (batch.epoch, batch.firstSequence) = (9, 42)
        bench.hub.take([.epochBegan(9, first: 42), .batch(batch)])
        let gaps = try client.takeTexts().compactMap { text -> Gap? in
            guard case .gap(let gap) = StreamMessage.parse(ByteBuffer(string: text)) else { return nil }
            return gap
        }
        #expect(gaps.map(\.reason) == ["the numbers begin anew", "tickertape was restarted"])
        #expect(gaps.allSatisfy { $0.epoch == 9 && $0.nextSequence == 42 })
        bench.stop()
    }

    @Test("hello names the oldest trade of all, if it is of an earlier run")
    func hello() throws {
        let bench = try self.bench()
        let text = try #require(try bench.pipedStream().takeTexts().first)
        #expect(text.contains(#""epoch":7,"seq":null,"oldest":null,"earliest":"3:5","resume""#), "\(text)")
        bench.stop()
        let other = HubBench()
        other.play(Frames.trade("A", "1"))
        let plain = try #require(try other.pipedStream().takeTexts().first)
        #expect(plain.contains(#""oldest":1,"resume""#), "\(plain)")
        other.stop()
    }
}
