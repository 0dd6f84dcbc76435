import Ingest
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Measurements
@testable import Terminal

/// A display whose drawing thread is the test, at ten seconds of the loop's clock.
private struct Resting {
    private let terminal: PseudoTerminal
    let display: TerminalDisplay
    let loop = EmbeddedEventLoop()
    let prices: PriceDisplay

    init() throws {
        self.terminal = try PseudoTerminal(columns: 80, rows: 24)
        self.display = try TerminalDisplay(
            output: self.terminal.terminal,
            settings: DisplaySettings(byteLimit: .none)
        )
        self.prices = PriceDisplay(
            output: self.display,
            loop: self.loop,
            symbols: ["A:B"],
            prices: SettledPrices(settings: PricePipeline.Settings(), loop: self.loop),
            status: sampleStatus(),
            relay: nil,
            clients: nil,
            limits: FreshnessLimits(),
            wallClock: { sampleNoon.wall }
        )
        self.advance(to: 10 * oneSecond)
        _ = self.given()
    }

    func advance(to time: Int64) { self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(time))) }

    func show(_ price: String, _ sequence: UInt64) {
        let summary = sampleSummary("A:B", price: price, sequence: sequence, trades: sequence)
        self.prices.show(PriceUpdate(summary: summary, skipped: 0))
    }

    /// Returns the state that the screen has received since the last call.
    func given() -> DisplayState? {
        self.display.mailbox.withContent { mailbox in
            defer { mailbox.newest = nil }
            return mailbox.newest
        }
    }

    func price(_ state: DisplayState?) -> ExactDecimal? { state?.rows.first?.summary.price }
}

@Suite("When the screen is given prices")
struct PricePublishingTests {
    @Test("An unsubscribed symbol returns with a relay's new snapshot, not with conflated prices")
    func givenUp() throws {
        let it = try Resting()
        func update(_ sequence: UInt64) -> PriceUpdate {
            PriceUpdate(summary: sampleSummary("C", price: "5", sequence: sequence, trades: sequence), skipped: 0)
        }
        func symbols() -> [String]? { it.given()?.rows.map(\.summary.symbol) }
        it.prices.show(update(1))
        it.prices.symbolUnsubscribed("C", since: 0)
        it.loop.run()
        #expect(symbols() == [])
        it.prices.show(update(2))
        it.loop.run()
        #expect(symbols() ?? [] == [])
        it.prices.show(update(2), age: oneSecond)
        it.loop.run()
        #expect(symbols() == ["C"])
        // A symbol that has no subscriber after all is removed afterwards.
        it.prices.symbolUnsubscribed("C", since: 0)
        it.loop.run()
        #expect(symbols() == [])
    }

    @Test("A filled trade moves neither price nor age nor chart, and counts in the figures")
    func filled() throws {
        let it = try Resting()
        var feed = BatchSource()
        it.prices.read(feed.batch([Frames.trade("A:B", "100", size: "1", time: 60_000)]))
        it.prices.showHeldBack()
        let before = try #require(it.given()?.rows.first)
        it.advance(to: 15 * oneSecond)
        var batch = feed.batch([Frames.trade("A:B", "250", size: "4", time: 0)], received: 5 * oneSecond)
        batch.trades[0].marks = [.filled]
        it.prices.read(batch)
        it.prices.showHeldBack()
        it.loop.run()
        let after = try #require(it.given()?.rows.first)
        #expect(after.summary.price == before.summary.price && after.direction == before.direction)
        #expect(after.arrived == before.arrived && after.priceArrived == before.priceArrived)
        #expect(after.history.newest == before.history.newest)
        #expect(after.summary.high == ExactDecimal("250") && after.summary.volume.description == "5")
        #expect(after.summary.trades == 2)
    }

    @Test("Where a replay was moved, a price from before the newest is the newest of there")
    func movedBack() throws {
        let it = try Resting()
        var feed = BatchSource()
        func play(_ price: String, at milliseconds: Int) throws -> ExactDecimal? {
            it.prices.read(feed.batch([Frames.trade("A:B", price, time: milliseconds)]))
            it.prices.showHeldBack()
            return it.price(it.given())
        }
        #expect(try play("100", at: 30_000) == sampleDecimal("100"))
        #expect(try play("90", at: 25_000) ?? sampleDecimal("100") == sampleDecimal("100"))
        it.prices.gapFound(Gap(from: 0, to: 0, reason: "r", nextSequence: 3, cause: .seek))
        #expect(try play("80", at: 25_000) == sampleDecimal("80"))
    }

    @Test("A symbol with a new subscription returns with its known price")
    func askedAgain() throws {
        let it = try Resting()
        var table = SymbolTable()
        let known = table.intern("C")
        let number = try #require(known)
        let trade = Trade(price: sampleDecimal("5"), size: sampleDecimal("1"), exchangeTime: 1, symbol: number)
        it.prices.read(
            TapeBatch(
                epoch: 1,
                firstSequence: 1,
                received: sampleNoon.wall,
                receivedMonotonic: 10 * oneSecond,
                trades: [trade],
                frames: [],
                symbols: table
            )
        )
        it.advance(to: 12 * oneSecond)
        it.prices.symbolUnsubscribed("C")
        it.loop.run()
        #expect(it.given()?.rows.isEmpty == true)
        it.prices.symbolChanged(SymbolStatus(symbol: "C", state: .asked, since: sampleNoon.wall))
        it.loop.run()
        let row = try #require(it.given()?.rows.first)
        #expect(row.summary.symbol == "C" && row.arrived == 10 * oneSecond)
    }

    @Test("While it rests it gets no state, and the newest one arrives shortly before the next frame")
    func held() throws {
        let it = try Resting()
        it.display.rest.until = 11 * oneSecond
        it.show("1", 1)
        #expect(it.given() == nil)
        it.advance(to: 10_500_000_000)
        it.show("2", 2)
        it.advance(to: 10_994_999_999)
        #expect(it.given() == nil)
        it.advance(to: 10_995_000_000)
        let state = it.given()
        #expect(it.price(state) == sampleDecimal("2") && state?.publishedAt == 10_995_000_000)
        it.advance(to: 12 * oneSecond)
        #expect(it.given() == nil)
    }

    @Test("Reads that the model takes together give the same rows as reads that it takes one by one")
    func together() throws {
        var random = SeededGenerator(seed: 4)
        var feed = BatchSource()
        let (single, joint) = (try Resting(), try Resting())
        joint.display.rest.until = 60 * oneSecond
        for number in 1...400 {
            let now = 10 * oneSecond + Int64(number) * 7_000_000
            let frames = (0...Int.random(in: 0...2, using: &random)).map { _ in
                let price = Int.random(in: 100...103, using: &random)
                return Frames.trade("A:\(Int.random(in: 0...2, using: &random))", "\(price)", time: number * 7)
            }
            var batch = feed.batch(frames, received: now + 60 * oneSecond)
            batch.receivedMonotonic = now
            if number % 50 == 0 { batch.trades[0].marks = [.filled] }
            for it in [single, joint] {
                it.advance(to: now)
                it.prices.read(batch)
            }
        }
        #expect(joint.given() == nil)
        for it in [single, joint] { it.prices.showHeldBack() }
        let rows = try zip(#require(single.given()?.rows), #require(joint.given()?.rows))
        for (one, other) in rows {
            #expect(one.summary == other.summary && one.skipped == other.skipped && one.direction == other.direction)
            #expect(one.arrived == other.arrived && one.priceArrived == other.priceArrived)
            #expect(one.changed?.at == other.changed?.at && one.changed?.from == other.changed?.from)
            for second in 11...30 as ClosedRange<Int64> {
                let rates = [one, other].map { $0.rate.tenthsPerSecond(now: second * oneSecond) }
                #expect(rates[0] == rates[1])
            }
            #expect((0..<one.tape.count).map { one.tape[$0] } == (0..<other.tape.count).map { other.tape[$0] })
            let series = [one, other].map { $0.history.series(span: 60 * oneSecond) }
            #expect((0..<series[0].count).map { series[0][$0] } == (0..<series[1].count).map { series[1][$0] })
        }
        #expect(Array(rows).count == 3)
    }

    @Test("A symbol that is removed and added again has at once the price that the feed knows of it, as old as that is")
    func addedAgain() throws {
        let it = try Resting()
        var feed = BatchSource()
        var batch = feed.batch([Frames.trade("A:B", "1"), Frames.trade("A:B", "2")], received: 70 * oneSecond)
        batch.receivedMonotonic = 10 * oneSecond
        it.prices.read(batch)
        it.advance(to: 20 * oneSecond)
        it.prices.symbolRemoved("A:B")
        it.loop.run()
        let removed = try #require(it.given())
        #expect(removed.rows.isEmpty)
        it.advance(to: 50 * oneSecond)
        it.prices.symbolAdded("A:B")
        it.loop.run()
        let added = try #require(it.given())
        let row = try #require(added.rows.first)
        #expect(it.price(added) == sampleDecimal("2") && row.arrived == 10 * oneSecond && row.summary.trades == 2)
        #expect(row.history.start == nil && added.waiting.isEmpty)
        // The next trade counts, even at the same price.
        var next = feed.batch([Frames.trade("A:B", "2")], received: 111 * oneSecond)
        next.receivedMonotonic = 51 * oneSecond
        it.advance(to: 51 * oneSecond)
        it.prices.read(next)
        it.loop.run()
        let later = try #require(it.given()?.rows.first)
        #expect(later.arrived == 51 * oneSecond && later.summary.trades == 3)
        #expect(later.history.start == 111 * oneSecond)
    }

    @Test("When it does not rest, or looks soon, they come at once", arguments: [9_000, 10_000, 10_003, 10_005])
    func atOnce(rest: Int64) throws {
        let it = try Resting()
        it.display.rest.until = rest * 1_000_000
        it.show("1", 1)
        #expect(it.price(it.given()) == sampleDecimal("1"))
    }

    @Test(
        "A feed status is published at once with the held prices; later prices are held as before"
    )
    func overtaken() throws {
        let it = try Resting()
        it.display.rest.until = 11 * oneSecond
        it.show("1", 1)
        #expect(it.given() == nil)
        it.prices.statusChanged(sampleStatus(.reconnecting(attempt: 1, retryAt: 0)))
        it.loop.run()
        let state = it.given()
        #expect(state?.status.phase == .reconnecting(attempt: 1, retryAt: 0) && it.price(state) == sampleDecimal("1"))
        it.advance(to: 10_300_000_000)
        #expect(it.given() == nil)
        it.show("2", 2)
        #expect(it.given() == nil)
        it.advance(to: 10_995_000_000)
        #expect(it.price(it.given()) == sampleDecimal("2"))
        // The screen has drawn a frame, and rests again.
        it.display.rest.until = 12 * oneSecond
        it.advance(to: 11_100_000_000)
        it.show("3", 3)
        #expect(it.given() == nil)
        it.advance(to: 20 * oneSecond)
        #expect(it.price(it.given()) == sampleDecimal("3"))
    }
}
