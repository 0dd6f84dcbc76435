import Feeds
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting

@Suite("A reconnecting connection across restarts")
struct ReconnectingRestartTests {
    private let second: Int64 = 1_000_000_000

    @Test("makes at most six attempts in 20 killed runs within 20 s, whether they fail, hang or open")
    func killedRuns() {
        for outcome in [
            ConnectionOutcome.down, .hangs, .opensAndStays, .opens(tradedFor: self.second, diesAfter: self.second / 2),
        ] {
            let notebook = Notebook()
            let loop = EmbeddedEventLoop()
            var attempts: [Int64] = []
            var worlds: [ConnectionWorld] = []
            for _ in 0..<20 {
                let world = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in outcome }
                world.link.start()
                loop.advanceTime(by: .seconds(1))
                attempts += world.attempts
                // The run is killed: nothing of it continues, and nothing more is saved.
                let frozen = notebook.load()
                world.link.stop()
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
        let first = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in
            .fails(UpstreamFailure("too many connections", disposition: .rateLimited(retryAfter: nil)))
        }
        first.link.start()
        loop.advanceTime(by: .seconds(10))
        first.link.stop()
        let second = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in .opensAndStays }
        second.link.start()
        #expect(second.phases == [.rateLimited(until: 1_800_000_060_000_000_000)])
        #expect(second.reasons == ["waiting as before the restart: too many connections"])
        #expect(second.attempts.isEmpty)
        loop.advanceTime(by: .seconds(51))
        #expect(second.attempts == [60_000])
        second.link.stop()
        loop.advanceTime(by: .seconds(1))
    }

    @Test("delays no program that quits a good session and starts again")
    func goodSessions() {
        for (life, expected) in [(0.2, Int64(500)), (2, 2_000), (30, 30_000), (90, 90_000)] {
            let notebook = Notebook()
            let loop = EmbeddedEventLoop()
            let first = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in .opensAndStays }
            first.link.start()
            loop.advanceTime(by: .nanoseconds(Int64(life * 1e9)))
            first.link.stop()
            #expect((notebook.load() == nil) == (life > 60))
            let second = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in .opensAndStays
            }
            second.link.start()
            loop.advanceTime(by: .seconds(2))
            #expect(second.attempts == [expected])
            second.link.stop()
            loop.advanceTime(by: .seconds(1))
        }
    }

    @Test("delays no program after a good session, even if failures preceded it")
    func soundSession() {
        let notebook = Notebook()
        let loop = EmbeddedEventLoop()
        let first = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) {
            $0 < 8 ? .down : .opensAndStays
        }
        first.link.start()
        loop.advanceTime(by: .seconds(123 + 20))
        #expect(first.attempts.count == 9)
        first.link.stop()
        loop.advanceTime(by: .seconds(1))
        let second = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in .opensAndStays }
        second.link.start()
        #expect(second.attempts.count == 1)
        second.link.stop()
        loop.advanceTime(by: .seconds(1))
    }

    /// Runs programs with one key, each of which waits for the one before: it connects, lives for a time, and ends.
    ///
    /// - Parameter kills: whether each program is killed; otherwise it ends in good order.
    /// - Returns: how long each next program needed, and when each connection was begun, in milliseconds.
    private func takeovers(_ count: Int, life: Double, kills: Bool) -> (waits: [Int64], attempts: [Int64]) {
        let notebook = Notebook()
        let loop = EmbeddedEventLoop()
        var waits: [Int64] = []
        var attempts: [Int64] = []
        var benches: [FeedBench] = []
        func now() -> Int64 { Int64(loop.now.uptimeNanoseconds) / 1_000_000 }
        for number in 0..<count {
            let ownership = FakeOwnership(number == 0 ? .mine : .others(KeyOwner(pid: 9, relay: .off)))
            let bench = FeedBench(loop: loop) {
                $0.holding = KeyHolding(ownership: ownership, attemptStore: notebook)
            }
            benches.append(bench)
            bench.start()
            let free = now()
            ownership.change(.mine)
            for _ in 0..<400 where bench.attempts.isEmpty { loop.advanceTime(by: .milliseconds(100)) }
            waits.append((bench.attempts.first ?? .max) - free)
            attempts += bench.attempts
            loop.advanceTime(by: .nanoseconds(Int64(life * 1e9)))
            let frozen = notebook.load()
            bench.feed.stop()
            // Its peer never answers the close frame.
            loop.advanceTime(by: .milliseconds(250))
            if kills, let frozen { notebook.save(frozen) }
        }
        withExtendedLifetime(benches) {}
        return (waits, attempts)
    }

    @Test("a program takes over within 2 s from one that ended in good order, however short its session was")
    func shortSessions() {
        for life in [3.5, 5, 8] {
            let (waits, _) = self.takeovers(12, life: life, kills: false)
            #expect(waits.allSatisfy { $0 <= 600 }, "\(life) s: \(waits)")
        }
        // A killed program could not save that its connection was open.
        #expect(self.takeovers(8, life: 3.5, kills: true).waits.contains { $0 > 2_000 })
    }

    @Test("takeovers make at most six attempts in any 20 s, and a waiting program says why", arguments: [true, false])
    func takeoverBudget(kills: Bool) {
        let (_, attempts) = self.takeovers(20, life: 0.2, kills: kills)
        for (index, attempt) in attempts.enumerated().dropFirst(6) {
            #expect(attempt - attempts[index - 6] >= 20_000, "\(attempts)")
        }
        // A killed program leaves a growing wait, so not all programs connect within the test.
        #expect(attempts.count == (kills ? 14 : 20))
    }

    @Test("takeovers and restarts together make at most six attempts in 20 s")
    func mixedBudget() {
        let notebook = Notebook()
        let loop = EmbeddedEventLoop()
        var attempts: [Int64] = []
        var benches: [FeedBench] = []
        for number in 0..<40 {
            // Every third run is a restart, which finds no owner.
            let isTakeover = number % 3 != 0
            let ownership = FakeOwnership(isTakeover ? .others(KeyOwner(pid: 9, relay: .off)) : .mine)
            let bench = FeedBench(loop: loop) {
                $0.holding = KeyHolding(ownership: ownership, attemptStore: notebook)
            }
            benches.append(bench)
            bench.start()
            ownership.change(.mine)
            loop.advanceTime(by: .milliseconds(700))
            attempts += bench.attempts
            if bench.attempts.isEmpty {
                #expect(bench.reasons.contains { $0.contains("waiting") || $0.contains("too often") })
            }
            bench.feed.stop()
            loop.advanceTime(by: .milliseconds(250))
        }
        for (index, attempt) in attempts.enumerated().dropFirst(6) {
            #expect(attempt - attempts[index - 6] >= 20_000, "\(attempts)")
        }
        #expect(attempts.count >= 6)
        withExtendedLifetime(benches) {}
    }

    @Test("a pause that the service asked for holds for the next program, too")
    func takeoverOfPause() {
        let notebook = Notebook()
        let loop = EmbeddedEventLoop()
        let first = ConnectionWorld(holding: KeyHolding(attemptStore: notebook), loop: loop) { _ in
            .fails(UpstreamFailure("too many connections", disposition: .rateLimited(retryAfter: nil)))
        }
        first.link.start()
        loop.advanceTime(by: .seconds(10))
        first.link.stop()
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .off)))
        let second = FeedBench(loop: loop) { $0.holding = KeyHolding(ownership: ownership, attemptStore: notebook) }
        second.start()
        ownership.change(.mine)
        loop.advanceTime(by: .seconds(1))
        #expect(second.attempts.isEmpty)
        #expect(second.reasons.last == "waiting as the tickertape before this one did: too many connections")
        loop.advanceTime(by: .seconds(51))
        #expect(second.attempts.count == 1)
        second.feed.stop()
        loop.advanceTime(by: .seconds(1))
    }
}
