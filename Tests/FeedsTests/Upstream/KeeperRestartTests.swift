import Feeds
import Market
import NIOCore
import NIOEmbedded
import Testing

@Suite("The keeper of a connection over restarts")
struct KeeperRestartTests {
    private let second: Int64 = 1_000_000_000

    @Test("makes at most six attempts in 20 runs within 20 s, each killed, whether they fail, hang or open")
    func killedRuns() {
        for outcome in [
            KeeperOutcome.down, .hangs, .opensAndStays, .opens(tradedFor: self.second, diesAfter: self.second / 2),
        ] {
            let notebook = Notebook()
            let loop = EmbeddedEventLoop()
            var attempts: [Int64] = []
            var worlds: [KeeperWorld] = []
            for _ in 0..<20 {
                let world = KeeperWorld(holding: KeyHolding(ledger: notebook), loop: loop) { _ in outcome }
                world.keeper.start()
                loop.advanceTime(by: .seconds(1))
                attempts += world.attempts
                // Killed: nothing of it runs on, and nothing more is written.
                let frozen = notebook.load()
                world.keeper.stop()
                loop.advanceTime(by: .zero)
                if let frozen { notebook.save(frozen) }
                worlds.append(world)
            }
            #expect(attempts.count <= 6, "\(outcome): \(attempts)")
            #expect(attempts.count >= 5, "\(outcome): \(attempts)")
            loop.advanceTime(by: .seconds(1))
            withExtendedLifetime(worlds) {}
        }
    }

    @Test("says at its start why it waits, and for how long")
    func waitsAsBefore() {
        let notebook = Notebook()
        let loop = EmbeddedEventLoop()
        let first = KeeperWorld(holding: KeyHolding(ledger: notebook), loop: loop) { _ in
            .fails(UpstreamFailure("too many connections", disposition: .rateLimited(retryAfter: nil)))
        }
        first.keeper.start()
        loop.advanceTime(by: .seconds(10))
        first.keeper.stop()
        let second = KeeperWorld(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
        second.keeper.start()
        #expect(second.phases == [.rateLimited(until: 1_800_000_060_000_000_000)])
        #expect(second.reasons == ["waiting as before the restart: too many connections"])
        #expect(second.attempts.isEmpty)
        loop.advanceTime(by: .seconds(51))
        #expect(second.attempts == [60_000])
        second.keeper.stop()
        loop.advanceTime(by: .seconds(1))
    }

    @Test("lets nobody wait who quits a good session and starts again")
    func goodSessions() {
        for (life, expected) in [(0.2, Int64(500)), (2, 2_000), (30, 30_000), (90, 90_000)] {
            let notebook = Notebook()
            let loop = EmbeddedEventLoop()
            let first = KeeperWorld(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
            first.keeper.start()
            loop.advanceTime(by: .nanoseconds(Int64(life * 1e9)))
            first.keeper.stop()
            #expect((notebook.load() == nil) == (life > 60))
            let second = KeeperWorld(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
            second.keeper.start()
            loop.advanceTime(by: .seconds(2))
            #expect(second.attempts == [expected])
            second.keeper.stop()
            loop.advanceTime(by: .seconds(1))
        }
    }

    @Test("waits no longer for a good session that came after a bad time")
    func soundSession() {
        let notebook = Notebook()
        let loop = EmbeddedEventLoop()
        let first = KeeperWorld(holding: KeyHolding(ledger: notebook), loop: loop) { $0 < 8 ? .down : .opensAndStays }
        first.keeper.start()
        loop.advanceTime(by: .seconds(123 + 20))
        #expect(first.attempts.count == 9)
        first.keeper.stop()
        loop.advanceTime(by: .seconds(1))
        let second = KeeperWorld(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
        second.keeper.start()
        #expect(second.attempts.count == 1)
        second.keeper.stop()
        loop.advanceTime(by: .seconds(1))
    }
}
