import TLS
import Ingest
import Feeds
import Glibc
import Logging
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import Feeds

/// Thirty days of a market, a service that fails in every known way, and the program between them, in seconds.
final class SoakWorld {
    let clock = SoakClock()
    let attemptStore: SoakCounts
    let service: SoakService
    let feed: FinnhubFeed
    private var market: SoakMarket
    private var plan: SoakPlan
    private var waiting: [SoakFault] = []
    private(set) var suffered = 0
    /// The most handshakes that the settings allow for the faults so far. Each fault costs one, and an outage those
    /// that fit into it by the backoff. The backoff's steps double from 0.5 s to 60 s, eight of them, and are 30 s long
    /// on average. Twice that number exceeds the bad luck of three hundred outages.
    private(set) var budget = 1.0
    private var cutSince: Int64?

    init(seed: UInt64, days: Int64, drops: Int, others: Int) {
        self.market = SoakMarket(seed: seed)
        // The last faults have time to be overcome.
        self.plan = SoakPlan(
            seed: seed &+ 1,
            drops: drops,
            others: others,
            span: days * SoakClock.day - 14_400 * SoakClock.second
        )
        self.attemptStore = SoakCounts(clock: self.clock, capacity: 8_000 * Int(days))
        var settings = FinnhubSettings(key: Secret("soak-key"))
        settings.symbols = SoakMarket.names
        settings.holding = KeyHolding(attemptStore: SoakNotebook())
        self.service = SoakService(
            settings: settings,
            clock: self.clock,
            attemptStore: self.attemptStore,
            seed: seed &+ 2
        )
        let clock = self.clock
        let dice = SoakDice(seed: seed &+ 3)
        let attemptStore = self.attemptStore
        self.feed = FinnhubFeed(
            settings,
            TapeWriter(epoch: 1, readers: [self.attemptStore]),
            connector: self.service,
            FeedContext(
                loop: clock.loop,
                wallClock: { clock.wall },
                chance: {
                    attemptStore.chance = dice.draw()
                    return attemptStore.chance
                },
                logger: Logger(label: "soak", factory: { _ in SwiftLogNoOpLogHandler() })
            )
        )
        self.feed.start()
    }

    /// Advances the time to `end`, wall clock.
    func run(to end: Int64) {
        while true {
            let fault = self.plan.faults.first?.at ?? .max
            guard min(self.market.nextAt, fault) <= end else { return }
            if fault <= self.market.nextAt {
                self.clock.pass(to: fault)
                self.waiting.append(self.plan.faults.removeFirst().fault)
            } else {
                let event = self.market.take()
                self.clock.pass(to: event.at)
                self.happens(event)
                self.look()
            }
            // A fault of a connection waits until there is one.
            if !self.waiting.isEmpty, self.service.canBreak { self.breaks(self.waiting.removeFirst()) }
        }
    }

    /// The reported state at the end.
    private(set) var end: (word: String, states: [SymbolStatus.State]) = ("", [])

    /// Ends the program as a user does, after one more trade.
    func stop() {
        self.run(to: self.market.nextAt)
        self.clock.pass(to: self.clock.wall + SoakClock.second)
        self.end = (self.attemptStore.phase.word, self.attemptStore.states)
        self.feed.stop()
        self.clock.pass(to: self.clock.wall + SoakClock.second)
    }

    private func happens(_ event: SoakMarket.Event) {
        self.attemptStore.happened(event)
        self.service.happened(event)
    }

    private func look() {
        let frozen = self.service.current?.frozen
        if self.service.isConnected {
            self.cutSince = nil
        } else {
            self.cutSince = self.cutSince ?? frozen ?? self.clock.monotonic
        }
        self.attemptStore.look(
            cutFor: self.cutSince.map { self.clock.monotonic - $0 },
            isBroken: self.service.isBroken
        )
    }

    private func breaks(_ fault: SoakFault) {
        self.suffered += 1
        self.budget += fault.handshakes
        guard case .sleep(let time, let kind) = fault else { return self.service.suffer(fault) }
        self.look()
        // While the machine sleeps, its loop stands still and the market continues.
        let end = self.clock.wall + time
        self.service.clientSleeps(kind)
        while self.market.nextAt <= end { self.happens(self.market.take()) }
        self.attemptStore.look(cutFor: nil, isBroken: true)
        self.clock.sleep(to: end)
        self.service.clientWakes(kind)
        self.look()
    }
}

/// Random numbers from a seed.
///
/// Unchecked, because everything runs on the test's thread, which is the loop's too.
private final class SoakDice: @unchecked Sendable {
    private var generator: SeededGenerator
    init(seed: UInt64) { self.generator = SeededGenerator(seed: seed) }
    func draw() -> Double { .random(in: 0...1, using: &self.generator) }
}

/// An attempt store in memory.
///
/// Unchecked, because everything runs on the test's thread, which is the loop's too.
private final class SoakNotebook: AttemptStore, @unchecked Sendable {
    private var memory: SavedBackoff?
    func load() -> SavedBackoff? { self.memory }
    func save(_ memory: SavedBackoff) { self.memory = memory }
    func clear() { self.memory = nil }
}

@Suite("A soak in simulated time")
struct SoakTests {
    /// The variable with other seeds to run, such as `1,2,3`; then the figures are printed.
    private static let variable = "TICKERTAPE_SOAK_SEEDS"
    private static let seeds: [UInt64] = {
        let list = getenv(variable).map { String(cString: $0) } ?? "1"
        return list.split(separator: ",").compactMap { UInt64($0) }
    }()

    @Test("thirty days with three hundred drops end live, and nothing is lost without a gap", arguments: Self.seeds)
    func soak(seed: UInt64) throws {
        let began = clock()
        let world = SoakWorld(seed: seed, days: 30, drops: 300, others: 90)
        let attemptStore = world.attemptStore
        world.run(to: SoakClock.start + 3 * SoakClock.day)
        let early = SoakHeap.bytesInUse()
        world.run(to: SoakClock.start + 30 * SoakClock.day)
        let late = SoakHeap.bytesInUse()
        let longest = attemptStore.gaps.map { $0.to - $0.from }.max() ?? 0
        world.stop()
        let account = attemptStore.account(tolerance: SoakConnection.latency)
        let tail = world.end

        // It ends live, and stops on request.
        #expect(world.suffered == 390)
        #expect(tail.word == "live" && tail.states == [.live, .live, .live])
        #expect(attemptStore.phase == .stopped)
        // Every trade is on the tape once, or reported as missing.
        #expect(attemptStore.wrongs.isEmpty, "\(attemptStore.wrongs.prefix(10))")
        #expect(account.lost.isEmpty, "\(account.lost.count): \(account.lost.prefix(10))")
        #expect(account.onTape * 10 > account.trades * 9 - account.inGaps * 10)
        #expect(account.atBorder < 40 && attemptStore.twice <= attemptStore.redeliveries)
        // Handshakes: each at its time, and all together within the limits of the settings.
        #expect(attemptStore.backoff.wrongs.isEmpty, "\(attemptStore.backoff.wrongs.prefix(10))")
        #expect(Double(attemptStore.backoff.attempts) < world.budget + Double(attemptStore.silences))
        #expect(attemptStore.backoff.maximumInAMinute <= 14)
        // The heap does not grow.
        let (begin, end) = (try #require(early), try #require(late))
        #expect(end - begin < 256 << 10, "from \(begin) to \(end) bytes")
        guard getenv(Self.variable) != nil else { return }
        print(
            "seed \(seed): \(attemptStore.backoff.attempts) handshakes of \(Int(world.budget) + attemptStore.silences),",
            "\(attemptStore.backoff.maximumInAMinute) a minute, \(attemptStore.gaps.count) gaps (\(attemptStore.silences) silences,",
            "\(attemptStore.nested) nested), longest \(longest / SoakClock.second) s, excess",
            "\(attemptStore.longestExcess / SoakClock.second) s, heap \(early ?? 0) to \(late ?? 0),",
            "\(account.trades) trades, \(account.onTape) on the tape, \(account.inGaps) in gaps, \(account.refused)",
            "refused, \(account.atBorder) at borders, \(attemptStore.twice) twice of \(attemptStore.redeliveries),",
            "\(Double(clock() - began) / Double(CLOCKS_PER_SEC)) s"
        )
    }
}
