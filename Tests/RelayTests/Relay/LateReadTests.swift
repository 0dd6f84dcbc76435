import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("Trades that come while no client is connected")
struct LateReadTests {
    private let bench = HubBench()

    private func newest(_ symbol: String) -> String? {
        let table = self.bench.hub.prices
        return table.knownRow(of: symbol).flatMap { table.newest(row: $0) }.map { "\($0.summary.price) \($0.ordinal)" }
    }

    @Test("The relay keeps them all, and a client gets only what comes after it")
    func kept() throws {
        var feed = BatchSource()
        for number in 1...20 {
            self.bench.hub.take(feed.batch([Frames.trade("A", "\(number)"), Frames.trade("B", "1", time: number)]))
        }
        #expect(self.bench.hub.late.count == 4 && self.bench.hub.late.allSatisfy { $0.batch?.frames.isEmpty == true })
        #expect(self.bench.hub.ring.sequences == 1..<41 && self.bench.hub.late.isEmpty)
        #expect(self.newest("A") == "20 20" && self.newest("B") == "1 20")
        #expect(self.bench.hub.bars.series(of: "B", .second)?.bars.last?.count == 20)
        self.bench.hub.take(feed.batch([Frames.trade("A", "21")]))
        let client = try self.bench.client()
        #expect(self.bench.hub.late.isEmpty && self.newest("A") == "21 21")
        try client.subscribe("A")
        self.bench.hub.take(feed.batch([Frames.trade("A", "22")]))
        #expect(try client.takeTexts() == [Frames.trade("A", "22")])
        #expect(self.newest("A") == "22 22")
    }

    @Test("A client that was alone gets after its break all that came in it, and what is kept for it has an end")
    func resumed() throws {
        var feed = BatchSource()
        func take(_ price: String) {
            var batch = feed.batch([Frames.trade("A", price)])
            batch.receivedMonotonic = Int64(self.bench.loop.now.uptimeNanoseconds)
            self.bench.hub.take(batch)
        }
        let client = try self.bench.client("/?resume=1")
        try client.subscribe("A")
        take("1")
        try client.leave()
        for price in 2...5 { take("\(price)") }
        let again = try self.bench.client("/?resume=1")
        _ = try again.takeTexts()
        try again.send(#"{"type":"resume","symbols":["A"],"since":"7:1"}"#)
        self.bench.loop.run()
        let texts = try again.takeTexts()
        #expect(texts.first == #"{"type":"resumed","complete":true}"#)
        #expect(texts.count { $0.hasPrefix(#"{"type":"frame""#) } == 4, "\(texts)")
        try again.leave()
        self.bench.loop.advanceTime(by: .minutes(3))
        take("6")
        take("7")
        #expect(self.bench.hub.late.count == 1)
    }

    @Test("A new epoch begins after them, even if the prices have begun it already")
    func newEpoch() {
        var feed = BatchSource()
        self.bench.hub.take(feed.batch([Frames.trade("A", "1"), Frames.trade("B", "2")]))
        feed.beginAnew()
        let next = feed.batch([Frames.trade("B", "3"), Frames.trade("A", "4")])
        _ = self.bench.hub.settled.epochBegan(next.epoch)
        self.bench.hub.take(.epochBegan(next.epoch, first: next.firstSequence))
        self.bench.hub.take(next)
        #expect(self.newest("A") == "4 2" && self.newest("B") == "3 2")
    }
}
