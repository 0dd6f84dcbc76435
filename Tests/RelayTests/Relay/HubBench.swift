import Ingest
import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TickertapeTesting
import WebSocket
import Wire
@testable import Measurements
@testable import Relay

/// A relay's hub on a loop whose time the test controls, with clients that need no socket.
final class HubBench {
    let loop = EmbeddedEventLoop()
    let hub: RelayHub
    let subscriptions: Subscriptions
    /// The symbols subscribed upstream and, with a minus sign, those unsubscribed.
    var calls: Calls {
        self.loop.run()
        return self.upstream.calls
    }

    private let upstream = AskedUpstream()
    private var channels: [EmbeddedChannel] = []
    private var feed = BatchSource()

    init(flow: (any FlowControl)? = nil, symbolLimit: Int = 50, _ change: (inout RelaySettings) -> Void = { _ in }) {
        var settings = RelaySettings()
        settings.pipeline = PricePipeline.Settings(quiet: 0, atMost: nil)
        settings.requestBurst = 1_000_000
        change(&settings)
        self.subscriptions = Subscriptions(Subscriptions.Settings(limit: symbolLimit), loop: self.loop)
        self.subscriptions.connect(self.upstream)
        self.hub = RelayHub(
            settings: settings,
            protocols: .builtIn(settings),
            subscriptions: self.subscriptions,
            loop: self.loop,
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() }),
            gauges: RelayGauges(),
            instruments: Instruments(),
            flow: flow.map { FlowGate($0) },
            status: FeedStatus(source: .live, phase: .live, since: 1)
        )
        self.hub.followPrices()
    }

    deinit { self.stop() }

    /// Ends all clients and timers.
    func stop() {
        self.hub.stop(reason: "the test is over", within: .seconds(1))
        for channel in self.channels { _ = try? channel.finish(acceptAlreadyClosed: true) }
        self.channels = []
    }

    /// Adds a client of Finnhub's protocol; the options are those of the URL.
    func client(_ target: String = "/?token=any") throws -> HubClient {
        HubClient(
            channel: try self.join(TradesClient(context: self.hub.context, options: TradesOptions(target: target)))
        )
    }

    /// Makes a channel for a session.
    @discardableResult
    func join(_ session: some RelayProtocol) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: self.loop)
        try session.join(channel.pipeline.syncOperations)
        self.channels.append(channel)
        return channel
    }

    /// Ends a channel with the bench.
    func keep(_ channel: EmbeddedChannel) { self.channels.append(channel) }

    /// Adds a client of `/v1/stream` with its whole WebSocket. The query is that of the URL, and the first message is
    /// its hello.
    func pipedStream(_ query: String = "") throws -> PipedClient {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/v1/stream\(query)")
        let client = try self.piped(StreamClient(context: self.hub.context, query: try StreamQuery(head)))
        return client
    }

    /// Adds a client of Finnhub's protocol with its whole WebSocket.
    func pipedClient(_ target: String = "/?token=any") throws -> PipedClient {
        try self.piped(TradesClient(context: self.hub.context, options: TradesOptions(target: target)))
    }

    private func piped(_ client: some RelayProtocol) throws -> PipedClient {
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let piped = try PipedClient(channel: channel, client: client, deadlines: self.hub.deadlines)
        self.channels.append(channel)
        return piped
    }

    /// Plays one batch of the feed with these frames.
    func play(_ frames: String...) { self.hub.take(self.feed.batch(frames)) }

    /// Plays two batches that reach the relay together, with a new epoch between them.
    func play(_ before: [String], anew after: [String]) {
        let first = self.feed.batch(before)
        self.feed.beginAnew()
        let second = self.feed.batch(after)
        self.hub.take([.batch(first), .epochBegan(second.epoch, first: second.firstSequence), .batch(second)])
    }
}

/// A feed that only notes the subscriptions.
final class AskedUpstream: SubscribingFeed {
    let calls = Calls()

    func subscriptionsChanged(_ changes: [SubscriptionChange]) {
        for change in changes {
            switch change {
            case .subscribe(let symbol): self.calls.add(symbol)
            case .unsubscribe(let symbol): self.calls.add("-\(symbol)")
            }
        }
    }
}

extension RelaySettings {
    /// Turns off all messages of the relay that no trade and no request causes.
    mutating func keepQuiet() {
        self.webSocket.pingInterval = .hours(1)
        self.activityInterval = .hours(1)
    }
}

/// One client on a ``HubBench``.
struct HubClient {
    let channel: EmbeddedChannel

    func send(_ text: String) throws { try self.channel.writeInbound(WebSocketMessage.text(ByteBuffer(string: text))) }

    func subscribe(_ symbol: String) throws { try self.send(#"{"type":"subscribe","symbol":"\#(symbol)"}"#) }

    func unsubscribe(_ symbol: String) throws { try self.send(#"{"type":"unsubscribe","symbol":"\#(symbol)"}"#) }

    /// Returns the payloads that came since the last call.
    func takeTexts() throws -> [String] {
        var texts: [String] = []
        while let output = try self.channel.readOutbound(as: WebSocketOutput.self) {
            guard case .framed(var bytes) = output else { continue }
            while let length = bytes.readMultipleIntegers(as: (UInt8, UInt8).self)?.1 {
                let count = length == 126 ? Int(bytes.readInteger(as: UInt16.self) ?? 0) : Int(length)
                texts.append(bytes.readString(length: count) ?? "cut short")
            }
        }
        return texts
    }

    /// Closes the connection. (`finish` would run the timers of all clients on this loop.)
    func leave() throws {
        self.channel.close(promise: nil)
        self.channel.embeddedEventLoop.run()
    }
}
