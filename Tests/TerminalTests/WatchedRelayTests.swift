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

@Suite("A watched relay's messages on the screen")
struct WatchedRelayTests {
    private let terminal: PseudoTerminal
    private let screen: TerminalDisplay
    private let loop = EmbeddedEventLoop()
    private let display: PriceDisplay
    private let relay = WatchedRelay(symbols: ["A:B"], monotonic: { 7 * oneSecond })

    init() throws {
        self.terminal = try PseudoTerminal(columns: 80, rows: 24)
        self.screen = try TerminalDisplay(
            output: self.terminal.terminal,
            settings: DisplaySettings(byteLimit: .none)
        )
        self.display = PriceDisplay(
            output: self.screen,
            loop: self.loop,
            symbols: ["A:B"],
            prices: SettledPrices(settings: PricePipeline.Settings(), loop: self.loop),
            status: sampleStatus(),
            relay: nil,
            clients: nil,
            limits: FreshnessLimits(),
            wallClock: { sampleNoon.wall }
        )
        self.loop.advanceTime(to: .uptimeNanoseconds(UInt64(10 * oneSecond)))
    }

    private func show(_ messages: StreamMessage...) -> DisplayState? {
        for message in messages { self.relay.show(message, on: self.display) }
        self.loop.advanceTime(by: .seconds(2))
        return self.screen.mailbox.withContent { mailbox in
            defer { mailbox.newest = nil }
            return mailbox.newest
        }
    }

    @Test("its prices have the relay's high, low and volume, not those of the trades received here")
    func sessionFigures() throws {
        var summary = sampleSummary("A:B", price: "5", sequence: 900, trades: 900)
        summary.high = try #require(ExactDecimal("9"))
        summary.low = try #require(ExactDecimal("2"))
        summary.volume = ExactSum(try #require(ExactDecimal("1234.5")))
        let update = PriceUpdate(summary: summary, skipped: 0)
        let shown = try #require(self.show(.snapshot(update, age: oneSecond))?.rows.first?.summary)
        #expect(shown == summary)
        summary.price = try #require(ExactDecimal("6"))
        summary.volume = ExactSum(try #require(ExactDecimal("1300")))
        (summary.sequence, summary.trades) = (950, 950)
        let settled = StreamMessage.price(PriceUpdate(summary: summary, skipped: 49))
        #expect(self.show(settled)?.rows.first?.summary == summary)
    }

    @Test("the venue's own 24 hours are on the symbol's row, and what became of a gap is in the event log")
    func venues() throws {
        let update = PriceUpdate(summary: sampleSummary("A:B", price: "5"), skipped: 0)
        let price = try #require(ExactDecimal("5"))
        let day = VenueDay(
            symbol: "A:B",
            open: nil,
            high: price,
            low: price,
            last: price,
            volume: price,
            received: sampleNoon.wall
        )
        let gap = Gap(from: 1, to: 2, reason: "r", nextSequence: 3, symbol: "A:B", missing: 7...9)
        let outcome = GapOutcome(symbol: "A:B", missing: 7...9, from: 1, to: 2)
        let state = try #require(
            self.show(.snapshot(update, age: 0), .venueDay(day), .gap(gap), .settled(outcome))
        )
        #expect(state.rows.first?.day == day && state.lastOutcome == outcome)
    }

    @Test(
        "a status is the relay's until the connection is lost, and a replay's position then stands still"
    )
    func link() throws {
        let playing = ReplayPosition(start: 0, end: 100 * oneSecond, at: oneSecond, speed: 1)
        let live = FeedStatus(source: .replay(file: "a", speed: 1), phase: .live, since: 3)
        _ = self.show(.hello(epoch: 7, newest: 1, symbols: ["A:B"], live, replay: playing))
        #expect(self.relay.position() == playing)
        let late = FeedStatus(source: live.source, phase: .late, since: 4)
        #expect(self.show(.status(late))?.status == late)
        let lost = FeedStatus(source: live.source, phase: .reconnecting(attempt: 1, retryAt: 9), since: 5)
        self.relay.showLost(lost, on: self.display)
        #expect(self.show()?.status == lost && self.relay.position() == playing)
    }
}
