import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire

/// A reader that asks for the prices of each batch, and keeps those that become due between two.
private final class PriceReader: SettledPriceReader {
    let prices: SettledPrices
    private(set) var texts: [String] = []

    init(_ prices: SettledPrices) {
        self.prices = prices
        prices.add(self)
    }

    func read(_ batch: TapeBatch) { self.pricesSettled(self.prices.updates(of: batch)) }

    func epochBegan(_ epoch: UInt64) { self.pricesSettled(self.prices.epochBegan(epoch)) }

    func pricesSettled(_ updates: [PriceUpdate]) {
        self.texts += updates.map { "\($0.summary.symbol) \($0.summary.price) \($0.skipped) of \($0.summary.trades)" }
    }
}

@Suite("The debounced prices of all readers on one loop")
struct SettledPricesTests {
    private let loop = EmbeddedEventLoop()
    private let prices: SettledPrices
    private let readers: [PriceReader]

    init() {
        let settings = PricePipeline.Settings(quiet: 100, atMost: nil)
        let prices = SettledPrices(settings: settings, loop: self.loop)
        self.prices = prices
        self.readers = (0..<3).map { _ in PriceReader(prices) }
    }

    private func expect(_ texts: String...) {
        for reader in self.readers { #expect(reader.texts == texts) }
    }

    @Test("each trade is counted once, and each reader gets each price once, at once or when it is due")
    func once() {
        var feed = BatchSource()
        for prices in [["1", "2"], ["3"]] {
            let batch = feed.batch(prices.map { Frames.trade("A", $0) })
            for reader in self.readers { reader.read(batch) }
        }
        self.expect("A 1 0 of 1")
        self.loop.advanceTime(by: .nanoseconds(99))
        self.expect("A 1 0 of 1")
        self.loop.advanceTime(by: .nanoseconds(1))
        self.expect("A 1 0 of 1", "A 3 1 of 3")
        self.loop.advanceTime(by: .seconds(1))
        self.expect("A 1 0 of 1", "A 3 1 of 3")
    }

    @Test(
        "prices that are held back when an epoch ends go to each reader once, and the next epoch has an empty board"
    )
    func epoch() {
        var feed = BatchSource()
        for reader in self.readers { reader.epochBegan(7) }
        let batch = feed.batch([Frames.trade("A", "1"), Frames.trade("A", "2")])
        for reader in self.readers { reader.read(batch) }
        for reader in self.readers { reader.epochBegan(8) }
        self.expect("A 1 0 of 1", "A 2 0 of 2")
        #expect(self.prices.board.rows.isEmpty)
        feed.beginAnew()
        let next = feed.batch([Frames.trade("B", "3")])
        for reader in self.readers { reader.read(next) }
        self.loop.advanceTime(by: .seconds(1))
        self.expect("A 1 0 of 1", "A 2 0 of 2", "B 3 0 of 1")
    }

    @Test("the last price goes to all readers when one of them flushes")
    func flush() {
        var feed = BatchSource()
        let batch = feed.batch([Frames.trade("A", "1"), Frames.trade("A", "2")])
        for reader in self.readers { reader.read(batch) }
        self.prices.flush()
        self.expect("A 1 0 of 1", "A 2 0 of 2")
        self.prices.flush()
        self.loop.advanceTime(by: .seconds(1))
        self.expect("A 1 0 of 1", "A 2 0 of 2")
    }
}
