import Feeds
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Platform
import Testing
import TickertapeTesting

/// A disk that answers when the test says so; the test sets the time.
///
/// Unchecked, because only the test's thread, which is also the loop's, uses it.
private final class SlowDisk: DiskWorker, @unchecked Sendable {
    private var waiting: [() -> Void] = []
    var isInstant = false

    var count: Int { self.waiting.count }

    func perform<Answer: Sendable>(
        on loop: any EventLoop,
        _ work: @escaping @Sendable () -> Answer,
        then: @escaping (Answer) -> Void
    ) {
        self.take { then(work()) }
    }

    func submit(_ work: @escaping @Sendable () -> Void) { self.take(work) }

    private func take(_ work: @escaping () -> Void) {
        if self.isInstant { work() } else { self.waiting.append(work) }
    }

    /// Answers the open questions, and those that follow from the answers.
    func answer() {
        while !self.waiting.isEmpty { self.waiting.removeFirst()() }
    }
}

/// Tests of a connection while the disks of its files are slow, or hang.
@Suite("A reconnecting connection with slow disks")
struct ReconnectingDiskTests {
    private let lockDisk = SlowDisk()
    private let attemptsDisk = SlowDisk()
    private let notebook = Notebook()
    private let warnings = NIOLockedValueBox<[String]>([])

    private func holding(_ ownership: FakeOwnership? = nil) -> KeyHolding {
        KeyHolding(
            ownership: ownership,
            attemptStore: self.notebook,
            lockDisk: self.lockDisk,
            attemptsDisk: self.attemptsDisk,
            warn: { [warnings] text in warnings.withLockedValue { $0.append(text) } }
        )
    }

    private var warned: [String] { self.warnings.withLockedValue { $0 } }

    @Test("makes no attempt before it is saved")
    func writesFirst() {
        let world = ConnectionWorld(holding: self.holding()) { _ in .opensAndStays }
        world.link.start()
        world.advance(seconds: 1)
        // The state of an earlier run is being read.
        #expect(self.attemptsDisk.count == 1 && world.attempts.isEmpty)
        let earlier = NIOLockedValueBox(false)
        world.script = { [notebook] _ in
            earlier.withLockedValue { $0 = notebook.load() != nil }
            return .opensAndStays
        }
        self.attemptsDisk.answer()
        #expect(world.attempts == [1_000] && earlier.withLockedValue { $0 })
        #expect(self.notebook.load()?.failures == 1)
        #expect(self.warned.isEmpty)
        self.attemptsDisk.isInstant = true
        world.link.stop()
        world.advance(seconds: 1)
        #expect(world.ended != nil)
    }

    @Test("continues without the disk of the attempts after 2 s, stops waiting for it, and warns once")
    func attemptsHang() {
        let world = ConnectionWorld(holding: self.holding()) { _ in .down }
        world.link.start()
        world.advance(seconds: 1.9)
        #expect(world.attempts.isEmpty)
        world.advance(seconds: 2.2)
        // Two seconds for the saved state, and two for the attempt.
        #expect(world.attempts == [4_000])
        world.advance(seconds: 10)
        // With the backoff of this run alone.
        #expect(world.attempts == [4_000, 4_500, 5_500, 7_500, 11_500])
        #expect(self.warned.count == 1 && self.warned.first?.contains("state.directory") == true, "\(self.warned)")
        // However long the disk hangs, few questions wait for it.
        #expect(self.attemptsDisk.count <= 2)
        self.attemptsDisk.answer()
        #expect(self.notebook.load()?.failures == 5)
        self.attemptsDisk.isInstant = true
        world.advance(seconds: 10)
        #expect(self.notebook.load()?.failures == 6)
        world.link.stop()
        #expect(world.ended != nil)
    }

    @Test("keeps the last owner while the disk of the lock hangs, and follows its late answer")
    func lockHangs() {
        self.attemptsDisk.isInstant = true
        let ownership = FakeOwnership(.mine)
        let bench = FeedBench { $0.holding = self.holding(ownership) }
        bench.start()
        bench.advance(seconds: 1.9)
        #expect(bench.attempts.isEmpty && self.warned.isEmpty)
        bench.advance(seconds: 0.2)
        #expect(bench.attempts == [2_000])
        #expect(self.warned.count == 1 && self.warned.first?.contains("state.runtime-directory") == true)
        bench.advance(seconds: 20)
        #expect(bench.connections.last?.isOpen == true && self.lockDisk.count == 1)
        ownership.change(.others(nil))
        self.lockDisk.isInstant = true
        self.lockDisk.answer()
        bench.advance(seconds: 0.6)
        bench.advance(seconds: 1)
        #expect(bench.reasons.last == "waiting for the other tickertape to open its relay")
        bench.feed.stop()
    }

    @Test("stops within a second though both disks hang, and saves what it can before the key is free")
    func stops() throws {
        let ownership = FakeOwnership(.mine)
        let bench = FeedBench { $0.holding = self.holding(ownership) }
        bench.start()
        self.lockDisk.answer()
        self.attemptsDisk.answer()
        #expect(bench.attempts == [0])
        bench.advance(seconds: 1)
        bench.feed.stop()
        bench.advance(seconds: 0.2)
        #expect(try bench.connections.last?.takeClose() == true && bench.ended == nil)
        bench.advance(seconds: 1.3)
        #expect(bench.ended != nil && !ownership.isReleased)
    }

    @Test("a stop waits for a write under way, and the next program finds its result")
    func stopsInOrder() {
        let ownership = FakeOwnership(.mine)
        let bench = FeedBench { $0.holding = self.holding(ownership) }
        bench.start()
        self.lockDisk.answer()
        self.attemptsDisk.answer()
        bench.advance(seconds: 1)
        self.lockDisk.isInstant = true
        bench.feed.stop()
        // The limit of the closing handshake, and then the disk.
        bench.advance(seconds: 0.6)
        #expect(!ownership.isReleased && self.notebook.load()?.isHandedOver == false)
        self.attemptsDisk.answer()
        #expect(ownership.isReleased && self.notebook.load()?.isHandedOver == true && bench.ended != nil)
    }

    @Test("a stop while it waits for the disk ends it at once, and a late answer changes nothing")
    func stopsWhileLooking() {
        let bench = FeedBench { $0.holding = self.holding(FakeOwnership(.mine)) }
        bench.start()
        bench.feed.stop()
        bench.advance(seconds: 1)
        #expect(bench.ended != nil)
        self.lockDisk.answer()
        self.attemptsDisk.answer()
        bench.advance(seconds: 10)
        #expect(bench.attempts.isEmpty)
    }
}
