import Feeds
import Logging
import Market
import NIOCore
import NIOEmbedded
import NIOConcurrencyHelpers
import Testing

/// What becomes of an attempt.
private enum Outcome {
    case fails(UpstreamFailure)
    /// Opens, carries trades for so long, and dies after so long; times in nanoseconds.
    case opens(tradedFor: Int64, diesAfter: Int64)
    case opensAndStays
    /// Answers nothing.
    case hangs
    /// Dies while its handler is being installed, whose installation then fails.
    case breaksWhileInstalled
    /// The same, and the installation goes through.
    case endsWhileInstalled
    /// The attempt fails while the handler is being installed, which goes through.
    case failsWhileInstalled
}

private final class FakeConnection: KeptConnection {
    let opened: NIODeadline
    let loop: any EventLoop
    let trades: Int64
    var isClosed = false

    init(loop: any EventLoop, trades: Int64) {
        self.loop = loop
        self.opened = loop.now
        self.trades = trades
    }

    var tradedFor: Int64 { min(self.trades, (self.loop.now - self.opened).nanoseconds) }
    func close() { self.isClosed = true }
    func setReading(_ isReading: Bool) {}
}

/// A keeper on a loop whose time is the test's, with a connector that does as the test says.
///
/// Unchecked, because the thread of the test, which is the loop's too, does all of it.
private final class World: Connecting, @unchecked Sendable {
    let loop: EmbeddedEventLoop
    let keeper: ConnectionKeeper
    var script: (Int) -> Outcome
    /// When each attempt began, in milliseconds.
    private(set) var attempts: [Int64] = []
    private(set) var phases: [FeedStatus.Phase] = []
    private(set) var reasons: [String] = []
    private(set) var connections: [FakeConnection] = []
    private var channels: [EmbeddedChannel] = []
    private var underWay: EventLoopPromise<Void>?
    private(set) var hanging: [(reached: (any Channel) throws -> Void, connected: (any Channel) throws -> Void)] = []
    var ended: Result<Void, any Error>?

    init(
        settings: ReconnectLadder.Settings = .init(),
        holding: KeyHolding = .init(),
        loop: EmbeddedEventLoop = EmbeddedEventLoop(),
        wallClock: (@Sendable () -> Int64)? = nil,
        script: @escaping (Int) -> Outcome
    ) {
        self.loop = loop
        self.script = script
        let bound = NIOLoopBound(loop, eventLoop: loop)
        let proxy = Proxy()
        self.keeper = ConnectionKeeper(
            connector: proxy,
            ladder: settings,
            loop: loop,
            wallClock: wallClock ?? { Int64(bound.value.now.uptimeNanoseconds) + 1_800_000_000_000_000_000 },
            chance: { 1 },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        proxy.world = self
        self.keeper.holding = holding
        self.keeper.relayConnector = { _, _ in proxy }
        self.keeper.report = { [unowned self] phase, reason, _ in
            self.phases.append(phase)
            self.reasons.append(reason ?? "")
        }
        self.keeper.opened = { [unowned self] _ in
            let connection: FakeConnection
            switch self.script(self.attempts.count - 1) {
            case .opens(let tradedFor, let life):
                connection = FakeConnection(loop: self.loop, trades: tradedFor)
                let keeper = self.keeper
                self.loop.scheduleTask(in: .nanoseconds(life)) {
                    keeper.connectionEnded(UpstreamFailure("it died"), tradedFor: tradedFor)
                }
            case .breaksWhileInstalled:
                self.keeper.connectionEnded(UpstreamFailure("broken"), tradedFor: 0)
                throw ChannelError.ioOnClosedChannel
            case .endsWhileInstalled:
                self.keeper.connectionEnded(UpstreamFailure("reset"), tradedFor: 0)
                connection = FakeConnection(loop: self.loop, trades: 0)
            case .failsWhileInstalled:
                self.underWay?.fail(UpstreamFailure("raced"))
                connection = FakeConnection(loop: self.loop, trades: 0)
            case .opensAndStays, .fails, .hangs:
                connection = FakeConnection(loop: self.loop, trades: .max)
            }
            self.connections.append(connection)
            return connection
        }
        self.keeper.finished.futureResult.whenComplete { [unowned self] in self.ended = $0 }
    }

    /// Unchecked, because the thread of the test, which is the loop's too, does all of it.
    private final class Proxy: Connecting, @unchecked Sendable {
        weak var world: World?
        func connect(
            on loop: any EventLoop,
            reached: @escaping (any Channel) throws -> Void,
            connected: @escaping (any Channel) throws -> Void
        ) -> EventLoopFuture<Void> {
            world?.connect(on: loop, reached: reached, connected: connected) ?? loop.makeSucceededVoidFuture()
        }
    }

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel) throws -> Void
    ) -> EventLoopFuture<Void> {
        self.attempts.append(Int64(loop.now.uptimeNanoseconds) / 1_000_000)
        let channel = EmbeddedChannel(loop: self.loop)
        self.channels.append(channel)
        switch self.script(self.attempts.count - 1) {
        case .fails(let failure):
            return loop.makeFailedFuture(failure)
        case .hangs:
            self.hanging.append((reached, connected))
            return loop.makePromise(of: Void.self).futureResult
        case .failsWhileInstalled:
            let promise = loop.makePromise(of: Void.self)
            self.underWay = promise
            self.loop.assumeIsolated().execute {
                try? reached(channel)
                try? connected(channel)
            }
            return promise.futureResult
        case .opens, .opensAndStays, .breaksWhileInstalled, .endsWhileInstalled:
            do {
                try reached(channel)
                try connected(channel)
                return loop.makeSucceededVoidFuture()
            } catch {
                return loop.makeFailedFuture(error)
            }
        }
    }

    func advance(seconds: Double) { self.loop.advanceTime(by: .nanoseconds(Int64(seconds * 1e9))) }

    var words: [String] { self.phases.map(\.word) }
}

/// A ledger in memory.
private final class Notebook: AttemptLedger {
    private let state = NIOLockedValueBox<LadderMemory?>(nil)
    func load() -> LadderMemory? { self.state.withLockedValue { $0 } }
    func save(_ memory: LadderMemory) { self.state.withLockedValue { $0 = memory } }
    func clear() { self.state.withLockedValue { $0 = nil } }
}

/// A key whose owner the test decides.
private final class FakeOwnership: KeyOwnership {
    private let state: NIOLockedValueBox<(claim: KeyClaim, isReleased: Bool)>
    init(_ claim: KeyClaim) { self.state = NIOLockedValueBox((claim, false)) }
    func claim() -> KeyClaim { self.state.withLockedValue { $0.claim } }
    func change(_ claim: KeyClaim) { self.state.withLockedValue { $0.claim = claim } }
    func release() { self.state.withLockedValue { $0.isReleased = true } }
    var isReleased: Bool { self.state.withLockedValue { $0.isReleased } }
}

@Suite("The keeper of a connection")
struct ConnectionKeeperTests {
    private let second: Int64 = 1_000_000_000
    private let down = Outcome.fails(UpstreamFailure("it is down"))

    @Test(
        "makes the next attempt at once when that is asked for, but not sooner than the floor and not again and again"
    )
    func renewsWaiting() {
        let world = World { $0 < 7 ? self.down : .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 32)
        // The wait of 32 s that began at 31.5 s is cut short.
        #expect(world.attempts.last == 31_500)
        #expect(world.keeper.renew() == .begun)
        #expect(world.attempts.last == 32_000)
        #expect(world.keeper.connection != nil)
        world.keeper.stop()
        world.advance(seconds: 1)

        let down = World { _ in self.down }
        down.keeper.start()
        #expect(down.keeper.renew() == .begun)
        #expect(down.attempts == [0])
        down.advance(seconds: 0.1)
        #expect(down.attempts == [0, 100])
        #expect(down.keeper.renew() == .tooSoon)
        // The ladder has climbed all the same.
        down.advance(seconds: 1)
        #expect(down.attempts == [0, 100, 1_100])
        down.keeper.stop()
        #expect(down.keeper.renew() == .over)
    }

    @Test(
        "gives up a connection for a new one when that is asked for, and does not take its end for somebody else's doing"
    )
    func renewsConnected() {
        let world = World { _ in .opensAndStays }
        world.keeper.start()
        for round in 1...5 {
            world.advance(seconds: 2)
            #expect(world.keeper.renew() == .begun)
            #expect(world.connections.last?.isClosed == true)
            #expect(world.keeper.renew() == .tooSoon)
            // The peer says goodbye.
            world.keeper.connectionEnded(UpstreamFailure("it died"), tradedFor: 0)
            #expect(world.reasons.last == "a new connection was asked for")
            world.advance(seconds: 0.1)
            #expect(world.attempts.count == round + 1)
        }
        #expect(!world.words.contains("key-in-use"))
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    @Test("lets nobody cut short the time for which the service wants to be left alone, and says until when that is")
    func leftAlone() {
        var busy = UpstreamFailure("under repair")
        busy.retryAfter = 90 * self.second
        let outcomes: [(Outcome, String)] = [
            (.fails(UpstreamFailure("429", disposition: .rateLimited(retryAfter: 17 * self.second))), "429"),
            (.fails(busy), "under repair"),
        ]
        for (outcome, reason) in outcomes {
            let world = World { $0 == 0 ? outcome : .opensAndStays }
            world.keeper.start()
            world.advance(seconds: 3)
            guard case .notBefore(let until, reason: reason) = world.keeper.renew() else {
                Issue.record("\(reason) may be cut short")
                continue
            }
            #expect(until == world.phases.last?.retryAt)
            #expect(world.attempts == [0])
            world.advance(seconds: 90)
            #expect(world.keeper.connection != nil)
            #expect(world.keeper.renew() == .begun)
            world.keeper.stop()
            world.advance(seconds: 1)
        }
        let thrownOut = World { _ in .opens(tradedFor: 0, diesAfter: self.second) }
        thrownOut.keeper.start()
        thrownOut.advance(seconds: 10)
        guard case .notBefore = thrownOut.keeper.renew() else {
            Issue.record("a key that is used elsewhere may be fought for")
            return
        }
        thrownOut.keeper.stop()
    }

    @Test("climbs the ladder on the loop's own clock")
    func climbs() {
        let world = World { _ in self.down }
        world.keeper.start()
        world.advance(seconds: 40)
        #expect(world.attempts == [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500])
        world.keeper.stop()
        #expect(world.words.last == "stopped")
        #expect(world.ended != nil)
    }

    @Test("begins anew only after a minute of trades, however a connection ended")
    func settles() {
        let world = World { attempt in
            switch attempt {
            case 0..<4: self.down
            case 4: .opens(tradedFor: 59 * self.second, diesAfter: 59 * self.second)
            case 5: .opens(tradedFor: 60 * self.second, diesAfter: 61 * self.second)
            default: .opensAndStays
            }
        }
        world.keeper.start()
        world.advance(seconds: 300)
        #expect(world.attempts == [0, 500, 1_500, 3_500, 7_500, 74_500, 136_000])
        world.keeper.stop()
        world.advance(seconds: 1)
        #expect(world.connections.last?.isClosed == true)
        #expect(world.ended != nil)
    }

    @Test("leaves a key alone on which connections die within seconds, and tries once a minute")
    func keyInUse() {
        let world = World { _ in .opens(tradedFor: 0, diesAfter: self.second) }
        world.keeper.start()
        world.advance(seconds: 130)
        // 1 s of life each, then 0.5 s, 1 s, and from the third death on a minute.
        #expect(world.attempts == [0, 1_500, 3_500, 64_500, 125_500])
        #expect(world.words.filter { $0 == "key-in-use" }.count == 3)
        #expect(world.reasons.contains { $0.contains("is the key used by another program?") && $0.contains("it died") })
        world.keeper.stop()
    }

    @Test("ends at a rejected key, or tries it again where it is told to")
    func keyRejected() {
        let rejected = Outcome.fails(UpstreamFailure("rejected", disposition: .keyRejected))
        let world = World { _ in rejected }
        world.keeper.start()
        world.advance(seconds: 10_000)
        #expect(world.attempts == [0])
        #expect(world.phases.last == .keyRejected(retryAt: nil))
        #expect(throws: UpstreamFailure.self) { try world.ended?.get() }

        var settings = ReconnectLadder.Settings()
        settings.rejectedKey = 900 * self.second
        let service = World(settings: settings) { $0 < 2 ? rejected : .opensAndStays }
        service.keeper.start()
        service.advance(seconds: 1_000)
        guard case .keyRejected(.some) = service.phases.last else {
            Issue.record("\(service.phases)")
            return
        }
        service.advance(seconds: 1_000)
        #expect(service.attempts == [0, 900_000, 1_800_000])
        service.keeper.stop()
        service.advance(seconds: 1)
    }

    @Test("waits as long as the service asks for, and says so")
    func rateLimited() {
        let limits: [Int64?] = [17 * self.second, nil, nil, nil, nil]
        let world = World { attempt in
            attempt < limits.count
                ? .fails(UpstreamFailure("429", disposition: .rateLimited(retryAfter: limits[attempt])))
                : .opensAndStays
        }
        world.keeper.start()
        world.advance(seconds: 2_000)
        #expect(world.attempts == [0, 17_000, 137_000, 377_000, 677_000, 977_000])
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    @Test("lets no late answer to an old attempt open a second connection")
    func lateAnswer() throws {
        let ledgerless = World { attempt in attempt == 0 ? .hangs : .opensAndStays }
        ledgerless.keeper.start()
        let first = try #require(ledgerless.hanging.first)
        ledgerless.keeper.stop()
        let channel = EmbeddedChannel(loop: ledgerless.loop)
        #expect(throws: ChannelError.self) { try first.reached(channel) }
        try first.connected(channel)
        #expect(ledgerless.connections.isEmpty)
        #expect(!channel.isActive)
    }

    @Test("takes the death of a connection that was never whole for that one's, not for the next one's")
    func brokenWhileInstalled() {
        let world = World { $0 == 0 ? .breaksWhileInstalled : .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 600)
        #expect(world.attempts == [0, 500])
        #expect(world.keeper.connection != nil)
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    @Test("goes on when a connection or its attempt ends while its handler is being added, and names that end")
    func endsWhileInstalled() {
        for (outcome, words) in [
            (Outcome.endsWhileInstalled, "reset"), (.failsWhileInstalled, "raced"), (.breaksWhileInstalled, "broken"),
        ] {
            let world = World { $0 == 0 ? outcome : .opensAndStays }
            world.keeper.start()
            world.advance(seconds: 600)
            #expect(world.attempts == [0, 500], "\(words)")
            #expect(world.phases.contains(.reconnecting(attempt: 1, retryAt: 1_800_000_000_500_000_000)))
            #expect(world.reasons.contains(words))
            #expect(world.keeper.connection != nil)
            world.keeper.stop()
            world.advance(seconds: 1)
        }
    }

    @Test("waits at least as long as any answer asks for, says until when, and believes an hour at most")
    func retryAfter() {
        func failure(_ seconds: Int64) -> UpstreamFailure {
            var failure = UpstreamFailure("under repair")
            failure.retryAfter = seconds * self.second
            return failure
        }
        let notebook = Notebook()
        let world = World(holding: KeyHolding(ledger: notebook)) { attempt in
            switch attempt {
            case 0: .fails(failure(90))
            case 1: .fails(failure(86_400))
            // Less than the ladder's own step of 2 s.
            case 2: .fails(failure(1))
            default: .opensAndStays
            }
        }
        world.keeper.start()
        #expect(world.phases.last == .reconnecting(attempt: 1, retryAt: 1_800_000_090_000_000_000))
        #expect(notebook.load()?.wait == 90 * self.second)
        world.advance(seconds: 4_000)
        #expect(world.attempts == [0, 90_000, 3_690_000, 3_692_000])
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    // MARK: Over restarts

    @Test("makes at most six attempts in 20 runs within 20 s, each killed, whether they fail, hang or open")
    func killedRuns() {
        for outcome in [self.down, .hangs, .opensAndStays, .opens(tradedFor: self.second, diesAfter: self.second / 2)] {
            let notebook = Notebook()
            let loop = EmbeddedEventLoop()
            var attempts: [Int64] = []
            var worlds: [World] = []
            for _ in 0..<20 {
                let world = World(holding: KeyHolding(ledger: notebook), loop: loop) { _ in outcome }
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
        let first = World(holding: KeyHolding(ledger: notebook), loop: loop) { _ in
            .fails(UpstreamFailure("too many connections", disposition: .rateLimited(retryAfter: nil)))
        }
        first.keeper.start()
        loop.advanceTime(by: .seconds(10))
        first.keeper.stop()
        let second = World(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
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
            let first = World(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
            first.keeper.start()
            loop.advanceTime(by: .nanoseconds(Int64(life * 1e9)))
            first.keeper.stop()
            #expect((notebook.load() == nil) == (life > 60))
            let second = World(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
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
        let first = World(holding: KeyHolding(ledger: notebook), loop: loop) { $0 < 8 ? self.down : .opensAndStays }
        first.keeper.start()
        loop.advanceTime(by: .seconds(123 + 20))
        #expect(first.attempts.count == 9)
        first.keeper.stop()
        loop.advanceTime(by: .seconds(1))
        let second = World(holding: KeyHolding(ledger: notebook), loop: loop) { _ in .opensAndStays }
        second.keeper.start()
        #expect(second.attempts.count == 1)
        second.keeper.stop()
        loop.advanceTime(by: .seconds(1))
    }

    // MARK: One key, one owner

    private static let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)

    @Test("uses the owner's relay, takes over within 600 ms when the owner goes, and says so")
    func takesOver() {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let notebook = Notebook()
        let world = World(holding: KeyHolding(ownership: ownership, ledger: notebook)) { _ in .opensAndStays }
        var attachments: [String?] = []
        world.keeper.attachmentChanged = { attachments.append($0?.via) }
        world.keeper.start()
        world.advance(seconds: 3)
        #expect(attachments == ["127.0.0.1:8080"])
        #expect(world.reasons.first?.contains("another tickertape (pid 9) holds the key") == true)
        #expect(notebook.load() == nil)
        ownership.change(.mine)
        let before = world.phases.count
        world.advance(seconds: 0.6)
        // The relay's connection was closed; its end, which its handler tells of, is the way on.
        world.keeper.connectionEnded(UpstreamFailure("closed"), tradedFor: 0)
        #expect(attachments == ["127.0.0.1:8080", nil])
        #expect(world.phases.dropFirst(before) == [.connecting])
        #expect(world.reasons.last == "the tickertape that held the key (pid 9) has gone")
        #expect(notebook.load()?.failures == 1)
        world.keeper.stop()
        world.advance(seconds: 1)
        #expect(ownership.isReleased)
    }

    @Test("takes over within 600 ms when the owner goes while its relay's address answers nothing")
    func takesOverFromHangingRelay() throws {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        // The relay and the one who listens to its status both hang.
        let world = World(holding: KeyHolding(ownership: ownership)) { $0 < 2 ? .hangs : .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 3)
        #expect(world.attempts.count == 2 && world.keeper.connection == nil)
        ownership.change(.mine)
        world.advance(seconds: 0.6)
        #expect(world.attempts.count == 3)
        #expect(world.reasons.last == "the tickertape that held the key (pid 9) has gone")
        #expect(world.connections.count == 1)
        // What the hung relay answers after all changes nothing.
        for hanging in world.hanging {
            let late = EmbeddedChannel(loop: world.loop)
            #expect(throws: ChannelError.self) { try hanging.reached(late) }
            try hanging.connected(late)
        }
        #expect(world.connections.count == 1)
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    @Test("leaves no timer behind when it is stopped in the turn of one")
    func stoppedByTimer() {
        let loop = EmbeddedEventLoop()
        weak var keeper: ConnectionKeeper?
        do {
            let holding = KeyHolding(ownership: FakeOwnership(.mine))
            let world = World(holding: holding, loop: loop) { _ in .opensAndStays }
            keeper = world.keeper
            // The look at the key is due in the same turn, and comes later.
            loop.scheduleTask(in: .milliseconds(500)) { world.keeper.stop() }
            world.keeper.start()
            world.advance(seconds: 0.4)
            world.keeper.connectionEnded(UpstreamFailure("it died"), tradedFor: 0)
            world.advance(seconds: 60)
            #expect(world.ended != nil)
        }
        #expect(keeper == nil)
    }

    @Test("waits for an owner without a relay, says what to do, and takes over when it goes")
    func ownerWithoutRelay() {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .off)))
        let world = World(holding: KeyHolding(ownership: ownership)) { _ in .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 60)
        #expect(world.words == ["key-in-use"])
        #expect(world.reasons.first?.contains("(pid 9) holds this key and has no relay") == true)
        ownership.change(.mine)
        world.advance(seconds: 1)
        #expect(world.attempts.count == 1)
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    @Test("gives the service up when the key turns out to be another program's")
    func yields() {
        let ownership = FakeOwnership(.mine)
        let world = World(holding: KeyHolding(ownership: ownership)) { _ in .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 3)
        #expect(world.attempts.count == 1)
        ownership.change(.others(nil))
        world.advance(seconds: 0.6)
        world.keeper.connectionEnded(UpstreamFailure("closed"), tradedFor: 0)
        world.advance(seconds: 3)
        #expect(world.reasons.last == "waiting for the other tickertape to open its relay")
        #expect(world.keeper.connection == nil)
        world.keeper.stop()
    }
}
