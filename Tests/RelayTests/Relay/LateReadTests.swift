import Ingest
import Market
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

    @Test("A new epoch begins after them, even if the prices have begun it already")
    func newEpoch() {
        var feed = BatchSource()
        self.bench.hub.take(feed.batch([Frames.trade("A", "1"), Frames.trade("B", "2")]))
        feed.beginAnew()
        let next = feed.batch([Frames.trade("B", "3"), Frames.trade("A", "4")])
        _ = self.bench.hub.settled.epochBegan(next.epoch)
        self.bench.hub.take(.epochBegan(next.epoch))
        self.bench.hub.take(next)
        #expect(self.newest("A") == "4 2" && self.newest("B") == "3 2")
    }
}
