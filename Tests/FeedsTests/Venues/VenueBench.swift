import Ingest
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import TickertapeTesting
import WebSocket
import Wire
@testable import Feeds

/// A venue's feed without sockets, on a loop whose time the test sets, with connections on which the test plays the
/// venue.
///
/// Unchecked, because only the test's thread, which is also the loop's, uses it.
final class VenueBench: @unchecked Sendable {
    let loop: EmbeddedEventLoop
    let log = TapeLog()
    private(set) var connections: [FeedBench.Connection] = []
    /// The failures of the next attempts to connect, in order.
    var failures: [UpstreamFailure] = []
    private(set) var attempts = 0
    /// The answer to a request for the names; `nil` leaves it open.
    var names: Result<VenueNames, ServiceFailure>?
    private(set) var asked = 0
    private var waiting: [(Result<VenueNames, ServiceFailure>) -> Void] = []
    private(set) var feed: VenueFeed!

    init(
        _ venue: Venue,
        _ symbols: [String],
        listed: [String]? = nil,
        loop: EmbeddedEventLoop = EmbeddedEventLoop(),
        names: Result<VenueNames, ServiceFailure>? = nil,
        asks: Bool = true,
        trades: (any VenueTradesSource)? = nil,
        change: (inout VenueSettings) -> Void = { _ in }
    ) {
        self.loop = loop
        var settings = VenueSettings(venue, symbols: symbols)
        change(&settings)
        self.names = names ?? .success(VenueNames(venue, VenueBench.listings(venue, listed ?? symbols)))
        let bound = NIOLoopBound(loop, eventLoop: loop)
        let context = FeedContext(
            loop: loop,
            wallClock: { FeedBench.epoch + Int64(bound.value.now.uptimeNanoseconds) },
            chance: { 1 },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let tape = TapeWriter(epoch: 7, readers: [self.log])
        self.feed = VenueFeed(
            settings,
            tape,
            connector: Way(self),
            names: asks ? Way(self) : nil,
            trades: trades,
            context
        )
    }

    /// The feed owns its connector, which must not own the bench.
    ///
    /// Unchecked, because only the test's thread, which is also the loop's, uses it.
    private final class Way: Connecting, VenueNameSource, @unchecked Sendable {
        private weak var bench: VenueBench?

        init(_ bench: VenueBench) { self.bench = bench }

        func connect(
            on loop: any EventLoop,
            reached: @escaping (any Channel) throws -> Void,
            connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
        ) -> EventLoopFuture<Void> {
            self.bench?.connect(on: loop, reached: reached, connected: connected)
                ?? loop.makeFailedFuture(ChannelError.eof)
        }

        func names(on loop: any EventLoop, then: @escaping (Result<VenueNames, ServiceFailure>) -> Void) {
            self.bench?.names(on: loop, then: then)
        }
    }

    static func listings(_ venue: Venue, _ symbols: [String]) -> [VenueListing] {
        symbols.map { symbol in
            let native = String(symbol.drop { $0 != ":" }.dropFirst())
            let name = venue == .kraken ? KrakenNames.pair(of: native) ?? native : native
            return VenueListing(symbol: venue.symbol(of: name), name: name, isTrading: true)
        }
    }

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        self.attempts += 1
        if !self.failures.isEmpty { return loop.makeFailedFuture(self.failures.removeFirst()) }
        let connection = FeedBench.Connection(loop: self.loop)
        self.connections.append(connection)
        do {
            try connection.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try reached(connection.channel)
            try connected(connection.channel, false)
            return loop.makeSucceededVoidFuture()
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func names(on loop: any EventLoop, then: @escaping (Result<VenueNames, ServiceFailure>) -> Void) {
        self.asked += 1
        if let names { then(names) } else { self.waiting.append(then) }
    }

    /// Answers the open requests for the names.
    func answer(_ names: Result<VenueNames, ServiceFailure>) {
        self.names = names
        let waiting = self.waiting
        self.waiting = []
        for one in waiting { one(names) }
    }

    func start() {
        self.feed.start()
        self.loop.advanceTime(by: .zero)
    }

    func stop() {
        self.feed.stop()
        self.loop.advanceTime(by: .seconds(1))
    }

    func advance(seconds: Double) { self.loop.advanceTime(by: .nanoseconds(Int64(seconds * 1e9))) }

    var status: FeedStatus { self.feed.status }
    var reason: String { self.status.reason ?? "" }

    /// The texts of the requests on the newest connection since the last call.
    func requests() throws -> [String] { try self.connections.last?.takeTexts() ?? [] }

    /// Closes the newest connection as the venue does.
    func close(_ code: UInt16, _ reason: String = "") {
        let connection = self.connections[self.connections.count - 1]
        connection.channel.pipeline.syncOperations.fireUserInboundEventTriggered(
            WebSocketEvent.closed(
                WebSocketClosure(code: WebSocketCloseCode(rawValue: code), reason: reason, cause: .peerClosed)
            )
        )
        connection.channel.close(promise: nil)
        self.loop.advanceTime(by: .zero)
    }
}
