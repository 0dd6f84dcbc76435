import HTTP
import Ingest
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Measurements
@testable import Relay

/// A relay on a free port, with a feed that the test plays by hand.
final class RelayFixture: Sendable {
    let relay: RelayServer
    let address: SocketAddress
    private let subscriptions: Subscriptions
    private let upstream: AskedUpstream
    private let loop: any EventLoop
    private let feed = NIOLockedValueBox(BatchSource())

    private init(
        relay: RelayServer,
        loop: any EventLoop,
        address: SocketAddress,
        subscriptions: Subscriptions,
        upstream: AskedUpstream
    ) {
        self.relay = relay
        self.subscriptions = subscriptions
        self.loop = loop
        self.address = address
        self.upstream = upstream
    }

    /// Starts a relay, runs the body and ends the relay at once, without waiting for clients' answers.
    ///
    /// A test of a stop stops the relay itself.
    ///
    /// - Parameter unserved: the symbols that no feed serves, with what to write instead.
    static func run(
        flow: (any FlowControl)? = nil,
        status: FeedStatus = FeedStatus(source: .live, phase: .live, since: 1_723_161_255_342_000_000),
        ownSymbols: [String] = [],
        symbolLimit: Int = 50,
        instruments: Instruments = Instruments(),
        tls: RelayTLS? = nil,
        replay: (any ReplayControlling)? = nil,
        directory: RelayDirectory? = nil,
        unserved: [String: String] = [:],
        _ change: (inout RelaySettings) -> Void = { _ in },
        body: (RelayFixture) async throws -> Void
    ) async throws {
        var settings = RelaySettings(listen: Endpoint(host: "127.0.0.1", port: 0))
        settings.pipeline = PricePipeline.Settings(quiet: 0, atMost: nil)
        settings.activityInterval = .hours(1)
        settings.requestBurst = 1_000_000
        // Longer times, so that a slow machine is not taken for a hanging client. Quick tests never see the pings.
        settings.handshakeTimeout = settings.handshakeTimeout * Patience.factor
        settings.stallTimeout = settings.stallTimeout * Patience.factor
        settings.webSocket.pingInterval = settings.webSocket.pingInterval.map { $0 * Patience.factor }
        settings.webSocket.pongTimeout = settings.webSocket.pongTimeout * Patience.factor
        settings.textPingInterval = settings.textPingInterval * Patience.factor
        change(&settings)
        let upstream = AskedUpstream()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let share = Subscriptions.Share(
            Subscriptions.Settings(limit: symbolLimit, linger: .zero),
            retained: ownSymbols,
            serves: { unserved[$0] == nil }
        )
        let subscriptions = Subscriptions([share], loop: loop) { unserved[$0] }
        subscriptions.connect(upstream)
        let relay = RelayServer(
            settings: settings,
            subscriptions: subscriptions,
            eventLoop: loop,
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() }),
            flow: flow,
            status: status,
            epoch: 7,
            instruments: instruments,
            tls: tls,
            replay: replay,
            directory: directory
        )
        let address = try await relay.start()
        let fixture = RelayFixture(
            relay: relay,
            loop: loop,
            address: address,
            subscriptions: subscriptions,
            upstream: upstream
        )
        do {
            try await body(fixture)
        } catch {
            await relay.stop(within: .zero)
            throw error
        }
        await relay.stop(within: .zero)
    }

    /// The symbols subscribed upstream so far and, with a minus sign, those unsubscribed.
    var calls: Calls {
        try? self.loop.submit {}.wait()
        return self.upstream.calls
    }

    /// Reports a status of a symbol as the feed does.
    func symbolChanged(_ status: SymbolStatus) {
        self.subscriptions.symbolChanged(status)
        self.relay.symbolChanged(status)
    }

    /// Plays one batch of the feed with these frames.
    func feed(_ frames: String...) { self.feed(frames) }

    func feed(_ frames: [String], received: Int64 = 1_723_161_255_342_123_456) {
        self.relay.read(self.feed.withLockedValue { $0.batch(frames, received: received) })
    }

    /// Waits until the relay has read everything fed so far.
    func readAll() async throws { try await self.loop.submit {}.get() }

    /// Feeds frames whose trades are all ahead of their arrival by the exchange's clock; ns since 1970.
    func feedAhead(_ frames: String..., arrival: Int64) {
        var batch = self.feed.withLockedValue { $0.batch(frames, received: arrival) }
        batch.aheadArrival = arrival
        for index in batch.trades.indices { batch.trades[index].marks = [.ahead] }
        self.relay.read(batch)
    }

    /// Feeds frames of a venue whose trades have ids and are all filled.
    func feedFilled(_ frames: String..., received: Int64 = 1_723_161_255_400_000_000) {
        var batch = self.feed.withLockedValue { $0.batch(frames, received: received) }
        for index in batch.frames.indices { batch.frames[index].dialect = .binance }
        for index in batch.trades.indices {
            batch.trades[index].marks = [.filled]
            batch.trades[index].id = 70 + UInt64(index)
        }
        self.relay.read(batch)
    }

    /// Plays the feed on the relay's loop, as if both shared it; other threads cannot interleave.
    func onFeedLoop(_ play: @escaping @Sendable (RelayFixture) -> Void) async throws {
        try await self.loop.submit { play(self) }.get()
    }

    /// Opens a client of Finnhub's protocol and subscribes it.
    func tradesClient(_ symbols: String..., receiveBuffer: Int? = nil) async throws -> RawClient {
        let client = try await RawClient.open(at: self.address, receiveBuffer: receiveBuffer)
        for symbol in symbols { try await client.subscribe(symbol) }
        try await self.settle(client)
        return client
    }

    /// Opens a client of `/v1/stream` and takes its hello.
    func streamClient(_ query: String = "", receiveBuffer: Int? = nil) async throws -> RawClient {
        let client = try await RawClient.open("/v1/stream\(query)", at: self.address, receiveBuffer: receiveBuffer)
        let hello = try await client.frame().text
        try #require(hello.hasPrefix(#"{"type":"hello","n":"#))
        return client
    }

    /// Waits until the relay has processed all that the client has sent; requests are answered in order.
    func settle(_ client: RawClient) async throws {
        try await client.send("?")
        var answer = try await client.frame().text
        while answer.hasPrefix(#"{"type":"subscribed","#) { answer = try await client.frame().text }
        try #require(answer.contains("Invalid message"), "the answer to nonsense was \(answer)")
    }
}
