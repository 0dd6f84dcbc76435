import Feeds
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import TickertapeTesting

/// The outcome of an attempt.
enum ConnectionOutcome {
    case fails(UpstreamFailure)
    /// Opens, carries trades for a time, and ends after another; times in nanoseconds.
    case opens(tradedFor: Int64, diesAfter: Int64)
    case opensAndStays
    /// Opens, and ends with this failure after a time, in nanoseconds.
    case opensAndEnds(UpstreamFailure, after: Int64)
    /// Answers nothing.
    case hangs
    /// Ends while its handler is being installed; the installation then fails.
    case breaksWhileInstalled
    /// Ends while its handler is being installed; the installation succeeds.
    case endsWhileInstalled
    /// The attempt fails while its handler is being installed; the installation succeeds.
    case failsWhileInstalled

    static let down = ConnectionOutcome.fails(UpstreamFailure("it is down"))
}

final class FakeConnection: KeptConnection {
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

/// A ``ReconnectingConnection`` on a loop whose time the test sets, with a connector that follows the test's plan.
///
/// Unchecked, because only the test's thread, which is also the loop's, uses it.
final class ConnectionWorld: Connecting, ReconnectingConnectionDelegate, @unchecked Sendable {
    let loop: EmbeddedEventLoop
    let link: ReconnectingConnection
    var script: (Int) -> ConnectionOutcome
    /// When each attempt began, in milliseconds.
    private(set) var attempts: [Int64] = []
    private(set) var phases: [FeedStatus.Phase] = []
    private(set) var reasons: [String] = []
    private(set) var connections: [FakeConnection] = []
    private var channels: [EmbeddedChannel] = []
    private var underWay: EventLoopPromise<Void>?
    private(set) var hanging: [(reached: (any Channel) throws -> Void, connected: (any Channel, Bool) throws -> Void)] =
        []
    var ended: Result<Void, any Error>?

    init(
        settings: ReconnectBackoff.Settings = .init(),
        holding: KeyHolding = .init(),
        loop: EmbeddedEventLoop = EmbeddedEventLoop(),
        wallClock: (@Sendable () -> Int64)? = nil,
        script: @escaping (Int) -> ConnectionOutcome
    ) {
        self.loop = loop
        self.script = script
        let bound = NIOLoopBound(loop, eventLoop: loop)
        let proxy = Proxy()
        var keeping = ReconnectingConnection.Settings(connector: proxy, backoff: settings)
        keeping.holding = holding
        self.link = ReconnectingConnection(
            keeping,
            FeedContext(
                loop: loop,
                wallClock: wallClock ?? { Int64(bound.value.now.uptimeNanoseconds) + 1_800_000_000_000_000_000 },
                chance: { 1 },
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
        )
        proxy.world = self
        self.link.delegate = self
        self.link.finished.futureResult.whenComplete { [unowned self] in self.ended = $0 }
    }

    func connectionOpened(_ channel: any Channel, isRelay: Bool) throws -> any KeptConnection {
        let connection: FakeConnection
        switch self.script(self.attempts.count - 1) {
        case .opens(let tradedFor, let life):
            connection = FakeConnection(loop: self.loop, trades: tradedFor)
            let link = self.link
            self.loop.scheduleTask(in: .nanoseconds(life)) {
                link.connectionEnded(UpstreamFailure("it died"), tradedFor: tradedFor)
            }
        case .opensAndEnds(let failure, let life):
            connection = FakeConnection(loop: self.loop, trades: 0)
            let link = self.link
            self.loop.scheduleTask(in: .nanoseconds(life)) { link.connectionEnded(failure, tradedFor: 0) }
        case .breaksWhileInstalled:
            self.link.connectionEnded(UpstreamFailure("broken"), tradedFor: 0)
            throw ChannelError.ioOnClosedChannel
        case .endsWhileInstalled:
            self.link.connectionEnded(UpstreamFailure("reset"), tradedFor: 0)
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

    func connectionReported(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        self.phases.append(phase)
        self.reasons.append(reason ?? "")
    }

    /// Unchecked, because only the test's thread, which is also the loop's, uses it.
    private final class Proxy: Connecting, @unchecked Sendable {
        weak var world: ConnectionWorld?
        func connect(
            on loop: any EventLoop,
            reached: @escaping (any Channel) throws -> Void,
            connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
        ) -> EventLoopFuture<Void> {
            world?.connect(on: loop, reached: reached, connected: connected) ?? loop.makeSucceededVoidFuture()
        }
    }

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
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
                try? connected(channel, false)
            }
            return promise.futureResult
        case .opens, .opensAndStays, .opensAndEnds, .breaksWhileInstalled, .endsWhileInstalled:
            do {
                try reached(channel)
                try connected(channel, false)
                return loop.makeSucceededVoidFuture()
            } catch {
                return loop.makeFailedFuture(error)
            }
        }
    }

    func advance(seconds: Double) { self.loop.advanceTime(by: .nanoseconds(Int64(seconds * 1e9))) }

    var words: [String] { self.phases.map(\.word) }
}

/// An attempt store in memory.
final class Notebook: AttemptStore {
    private let state = NIOLockedValueBox<SavedBackoff?>(nil)
    func load() -> SavedBackoff? { self.state.withLockedValue { $0 } }
    func save(_ memory: SavedBackoff) { self.state.withLockedValue { $0 = memory } }
    func clear() { self.state.withLockedValue { $0 = nil } }
}

/// A key whose owner the test sets.
final class FakeOwnership: KeyOwnership {
    private let state: NIOLockedValueBox<(claim: KeyClaim, isReleased: Bool)>
    init(_ claim: KeyClaim) { self.state = NIOLockedValueBox((claim, false)) }
    func claim() -> KeyClaim { self.state.withLockedValue { $0.claim } }
    func change(_ claim: KeyClaim) { self.state.withLockedValue { $0.claim = claim } }
    func release() { self.state.withLockedValue { $0.isReleased = true } }
    var isReleased: Bool { self.state.withLockedValue { $0.isReleased } }
}
