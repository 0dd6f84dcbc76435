import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("The budget of attempts")
struct AttemptBudgetTests {
    private static let second: Int64 = 1_000_000_000

    private static var settings: ReconnectBackoff.Settings {
        var settings = ReconnectBackoff.Settings()
        settings.first = 10_000_000
        settings.limit = 100_000_000
        settings.budget = AttemptBudget(attempts: 20, span: 60 * Self.second, isStrict: true)
        return settings
    }

    @Test("delays the attempts of a running program, and says why")
    func strict() {
        let world = ConnectionWorld(settings: Self.settings) { _ in .down }
        world.link.start()
        world.advance(seconds: 59)
        #expect(world.attempts.count == 20)
        #expect(world.words.last == "rate-limited" && world.reasons.last?.contains("20 connections were begun") == true)
        world.advance(seconds: 300)
        for (attempt, later) in zip(world.attempts, world.attempts.dropFirst(20)) {
            #expect(later - attempt >= 60_000)
        }
        #expect(world.attempts.count > 60)
    }

    @Test("survives a restart, also after a connection that was good")
    func restart() {
        let notebook = Notebook()
        let loop = EmbeddedEventLoop()
        var attempts = 0
        // Each program is stopped while its connection is open, and the next one starts at once.
        for _ in 0..<40 {
            let world = ConnectionWorld(
                settings: Self.settings,
                holding: KeyHolding(attemptStore: notebook),
                loop: loop
            ) { _ in
                .opensAndStays
            }
            world.link.start()
            world.advance(seconds: 0.2)
            attempts += world.attempts.count
            world.link.stop()
            world.advance(seconds: 0.3)
        }
        #expect(attempts == 20)
        // A connection that carries trades for long enough forgets the failures, not the attempts.
        var settled = Self.settings
        settled.settled = Self.second
        let world = ConnectionWorld(settings: settled, holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in
            .opensAndStays
        }
        world.link.start()
        world.advance(seconds: 70)
        let memory = notebook.load()
        #expect(memory?.failures == 0 && memory?.recent.isEmpty == false)
        #expect(memory.flatMap { SavedBackoff(text: $0.text) } == memory)
        world.link.stop()
        loop.advanceTime(by: .seconds(1))
    }

    @Test("leaves every venue's limit with room for other programs")
    func venues() {
        for venue in Venue.allCases {
            let budget = FeedSettings.venue(venue, symbols: []).backoff.budget
            let limit: Int64 = venue == .kraken ? 150 : 300
            let span: Int64 = venue == .kraken ? 600 : 300
            #expect(budget.isStrict && Int64(budget.attempts) * span * Self.second < limit * budget.span)
        }
        // The file of the largest budget is small enough to be read again.
        var backoff = ReconnectBackoff(settings: FeedSettings.venue(.kraken, symbols: []).backoff)
        for number in 0..<1_000 { backoff.attempted(at: 1_800_000_000_000_000_000 + Int64(number)) }
        let memory = backoff.memory(ofAttemptAt: 1_800_000_000_000_001_000)
        #expect(SavedBackoff(text: memory.text) == memory && memory.text.utf8.count < 3_000)
    }

    @Test("is that of six attempts in 20 s for a key, and delays only the first attempt of a program")
    func ofKey() {
        let settings = ReconnectBackoff.Settings()
        #expect(settings.budget == AttemptBudget(attempts: 6, span: 20 * Self.second, isStrict: false))
        var backoff = ReconnectBackoff(settings: settings)
        for number in 0..<10 { backoff.attempted(at: Int64(number)) }
        #expect(backoff.budgetWait(at: 10) == 0)
    }
}
