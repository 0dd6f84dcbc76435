import Ingest
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// The prices that became due between two batches.
private final class SettledList: SettledPriceReader {
    private var updates: [PriceUpdate] = []

    func pricesSettled(_ updates: [PriceUpdate]) { self.updates += updates }

    func takeUpdates() -> [PriceUpdate] {
        defer { self.updates = [] }
        return self.updates
    }
}

@Suite("The prices sent to a client of the stream")
struct FollowedRowsTests {
    @Test(
        "a snapshot first, never two equal prices in a row, and every trade sent or counted, for any slow client",
        arguments: 0..<50 as Range<UInt64>
    )
    func isExact(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var feed = BatchSource()
        let loop = EmbeddedEventLoop()
        let settings = PricePipeline.Settings(quiet: 3, atMost: seed % 2 == 0 ? 10 : nil)
        let prices = SettledPrices(settings: settings, loop: loop)
        let settled = SettledList()
        prices.add(settled)
        var table = PriceTable(prices)
        var session = FollowedRows()
        var isWritable = true
        var follows = false
        var last: ExactDecimal?
        var ordinal: UInt64 = 0
        var reported = 0
        var base: UInt64 = 0

        func deliver(_ price: ExactDecimal, _ at: UInt64, _ row: Int) throws {
            guard follows else { return }
            guard isWritable else { return session.postpone(row) }
            switch session.show(price, ordinal: at, row: row) {
            case .nothing:
                break
            case .snapshot(let skipped):
                try #require(last == nil && (at == base && skipped == 0 || at == base + skipped + 1))
                (last, ordinal) = (price, at)
            case .price(let skipped):
                try #require(last != nil && last != price)
                ordinal += skipped + 1
                try #require(ordinal == at)
                last = price
                reported += 1
            }
        }
        func newest(_ row: Int) throws {
            guard let newest = table.newest(row: row) else { return }
            try deliver(newest.summary.price, newest.ordinal, row)
        }

        for now in 0..<2_000 as Range<Int64> {
            var showings: [PriceTable.Showing] = []
            loop.advanceTime(to: .uptimeNanoseconds(UInt64(now)))
            showings += table.showings(settled.takeUpdates())
            if Int.random(in: 0..<3, using: &random) == 0 {
                let values = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Int.random(in: 1...3, using: &random)
                }
                showings += table.take(feed.batch(values.map { Frames.trade("A", "\($0)", time: Int(now)) }))
            }
            for showing in showings { try deliver(showing.update.summary.price, showing.ordinal, showing.row) }
            switch Int.random(in: 0..<60, using: &random) {
            case 0:
                isWritable.toggle()
                if isWritable { for row in session.takePostponed() { try newest(row) } }
            case 1 where !follows:
                follows = true
                let row = table.row(of: "A")
                base = table.taken(row: row)
                ordinal = base
                let isNew = session.follow(row, taken: base)
                #expect(isNew)
                try newest(row)
            case 2 where follows && now % 5 == 0:
                session.unfollow(table.row(of: "A"))
                (follows, last, ordinal) = (false, nil, 0)
            default:
                break
            }
        }
        #expect(reported > 20)
    }

    @Test("following twice is following once, and what was unfollowed is forgotten")
    func follows() {
        var session = FollowedRows()
        let (first, again) = (session.follow(3), session.follow(3))
        #expect(first && !again)
        #expect(session.count == 1 && session.follows(3) && !session.follows(2))
        session.postpone(3)
        session.unfollow(3)
        #expect(session.count == 0 && session.postponed.isEmpty)
        let message = session.show(.zero, ordinal: 1, row: 3)
        #expect(message == .nothing)
    }
}
