import TLS
import Ingest
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import TickertapeTesting
import WebSocket
@testable import Feeds

/// A whole feed without sockets, on a loop whose time the test sets, with connections on which the test plays the
/// service.
///
/// Unchecked, because only the test's thread, which is also the loop's, uses it.
final class FeedBench: @unchecked Sendable {
    let loop: EmbeddedEventLoop
    let log = TapeLog()
    let feed: any Feed
    private(set) var ended: Result<Void, any Error>?
    /// How far the wall clock was set forward, ns.
    private let ahead: Clock
    private(set) var connections: [Connection] = []
    /// The target of each connection: `nil` for the service, otherwise the path at a relay.
    private(set) var ways: [String?] = []
    /// When each attempt to get the trades began, from any source; milliseconds.
    private(set) var attempts: [Int64] = []
    /// Whether attempts to get the trades from a relay hang.
    var relayHangs = false
    /// The failure of attempts to get the trades from a relay; `nil` if they succeed.
    var relayFailure: UpstreamFailure?
    /// The failure of attempts with another key; `nil` if they succeed.
    var newKeyFailure: UpstreamFailure?
    /// The outcomes of the changes of the key.
    private(set) var keyChanges: [KeyChange] = []
    private let paths: Ways
    private(set) var hanging: [(reached: (any Channel) throws -> Void, connected: (any Channel, Bool) throws -> Void)] =
        []

    /// The path of the frames at another program's relay.
    static let relayPath = "/?resume=1"
    /// Stands for the service where a connection has another key.
    static let newKeyPath = "/another-key"

    /// Whether the peers identify themselves as relays.
    var isRelay = false

    /// The wall clock at the loop's time 0, ns since 1970.
    static let epoch: Int64 = 1_800_000_000_000_000_000

    private final class Clock: Sendable {
        let ahead = NIOLockedValueBox<Int64>(0)
    }

    /// One connection, as the service sees it.
    final class Connection {
        let channel: EmbeddedChannel

        init(loop: EmbeddedEventLoop) {
            self.channel = EmbeddedChannel(loop: loop)
        }

        /// Delivers messages in one read.
        func send(_ texts: String..., isWholeRead: Bool = true) {
            for text in texts {
                self.channel.pipeline.syncOperations
                    .fireChannelRead(NIOAny(WebSocketMessage.text(ByteBuffer(string: text))))
            }
            if isWholeRead { self.channel.pipeline.syncOperations.fireChannelReadComplete() }
        }

        /// The requests since the last call, as `+A` and `-A`.
        func takeRequests() throws -> [String] {
            var requests: [String] = []
            while let output = try self.channel.readOutbound(as: WebSocketOutput.self) {
                guard case .text(let bytes) = output else { continue }
                let text = String(buffer: bytes)
                let symbol = text.split(separator: "\"").last { $0 != "}" } ?? ""
                requests.append((text.contains("unsubscribe") ? "-" : "+") + symbol)
            }
            return requests
        }

        /// The texts of the requests since the last call.
        func takeTexts() throws -> [String] {
            var texts: [String] = []
            while let output = try self.channel.readOutbound(as: WebSocketOutput.self) {
                if case .text(let bytes) = output { texts.append(String(buffer: bytes)) }
            }
            return texts
        }

        /// Answers a ping: a sign of life without a trade.
        func pong() {
            self.channel.pipeline.syncOperations.fireUserInboundEventTriggered(
                WebSocketEvent.pongReceived(ByteBuffer())
            )
        }

        var isOpen: Bool { self.channel.isActive }

        /// Whether a close frame was sent; consumes the requests before it.
        func takeClose() throws -> Bool {
            while let output = try self.channel.readOutbound(as: WebSocketOutput.self) {
                if case .close = output { return true }
            }
            return false
        }

        /// Breaks the connection like a reset during a read: an error, and no end of the read.
        func reset() {
            self.channel.pipeline.syncOperations.fireErrorCaught(IOError(errnoCode: 104, reason: "read"))
        }
    }

    init(
        loop: EmbeddedEventLoop = EmbeddedEventLoop(),
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
        _ change: (inout FinnhubSettings) -> Void = { _ in }
    ) {
        self.loop = loop
        var settings = FinnhubSettings(key: Secret("a secret key"))
        settings.symbols = ["A"]
        change(&settings)
        let clock = Clock()
        self.ahead = clock
        let bound = NIOLoopBound(loop, eventLoop: loop)
        let ways = Ways()
        self.paths = ways
        let context = FeedContext(
            loop: loop,
            wallClock: { Self.epoch + Int64(bound.value.now.uptimeNanoseconds) + clock.ahead.withLockedValue { $0 } },
            chance: { 1 },
            logger: logger
        )
        let client = FinnhubClient(settings, TapeWriter(epoch: 7, readers: [self.log]), context)
        let service = Way(path: nil, ways)
        let access = KeyAccess(key: settings.key, holding: settings.holding, connector: service)
        if settings.holding.ownership != nil {
            self.feed = SharedKeyFeed(client, access) { _, path in Way(path: path, ways) }
        } else {
            self.feed = FinnhubFeed(client, access)
        }
        self.feed.finished.whenComplete { [unowned self] in self.ended = $0 }
        ways.bench = self
    }

    private final class Ways {
        weak var bench: FeedBench?
    }

    /// The connector, which notes where each connection leads.
    ///
    /// Unchecked, because only the test's thread, which is also the loop's, uses it.
    private final class Way: Connecting, @unchecked Sendable {
        let path: String?
        private let ways: Ways

        init(path: String?, _ ways: Ways) {
            self.path = path
            self.ways = ways
        }

        func connect(
            on loop: any EventLoop,
            reached: @escaping (any Channel) throws -> Void,
            connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
        ) -> EventLoopFuture<Void> {
            self.ways.bench?.connect(self.path, on: loop, reached: reached, connected: connected)
                ?? loop.makeFailedFuture(ChannelError.eof)
        }
    }

    private func connect(
        _ path: String?,
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        self.ways.append(path)
        if path != "/v1/stream" { self.attempts.append(self.now) }
        let connection = Connection(loop: self.loop)
        self.connections.append(connection)
        if path == Self.relayPath, let relayFailure { return loop.makeFailedFuture(relayFailure) }
        if path == Self.newKeyPath, let newKeyFailure { return loop.makeFailedFuture(newKeyFailure) }
        if path == Self.relayPath, self.relayHangs {
            self.hanging.append((reached, connected))
            return loop.makePromise(of: Void.self).futureResult
        }
        do {
            try connection.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try reached(connection.channel)
            try connected(connection.channel, self.isRelay)
            return loop.makeSucceededVoidFuture()
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func start() {
        self.feed.start()
        self.loop.advanceTime(by: .zero)
    }

    func stop() {
        self.feed.stop()
        self.loop.advanceTime(by: .seconds(1))
    }

    /// Begins to use another key.
    func changeKey(_ holding: KeyHolding) {
        let way = Way(path: Self.newKeyPath, self.paths)
        let access = KeyAccess(key: Secret("another secret key"), holding: holding, connector: way)
        self.feed.change(to: access) { self.keyChanges.append($0) }
        self.loop.advanceTime(by: .zero)
    }

    /// Milliseconds since the start.
    var now: Int64 { Int64(self.loop.now.uptimeNanoseconds) / 1_000_000 }

    func advance(milliseconds: Int64) { self.loop.advanceTime(by: .milliseconds(milliseconds)) }

    func advance(seconds: Double) { self.loop.advanceTime(by: .nanoseconds(Int64(seconds * 1e9))) }

    /// The reasons of the statuses that the feed reported, where it gave one.
    var reasons: [String] { self.log.contents.statuses.compactMap(\.reason) }

    /// Simulates a sleep of the computer: the wall clock continues, the monotonic one stops.
    func sleep(seconds: Int64) { self.ahead.ahead.withLockedValue { $0 += seconds * 1_000_000_000 } }

    /// Returns a trade frame; `number` is the trade's size and its time in milliseconds.
    static func trade(_ symbol: String, _ numbers: Int...) -> String {
        let elements = numbers.map { #"{"c":null,"p":10,"s":"\#(symbol)","t":\#(1_723_161_255_000 + $0),"v":\#($0)}"# }
        return #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }
}
