import Feeds
import Ingest
import Logging
import Market
import Measurements
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Relay
import WebSocket
import Wire

/// A relay with one client and without sockets, which digests the bytes that the client would get.
///
/// Each client has a separate relay, because a relay numbers its messages across all clients.
final class RelayHarness {
    /// The end of a client's pipeline, in place of its socket.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = WebSocketOutput
        private let output: OutputDigest

        init(_ output: OutputDigest) { self.output = output }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            switch Self.unwrapOutboundIn(data) {
            case .framed(let bytes), .text(let bytes), .binary(let bytes): self.output.take(bytes)
            case .close(let code, let reason): self.output.take("close \(code.rawValue) \(reason)\n")
            }
            promise?.succeed(())
        }
    }

    private let hub: RelayHub
    private let loop: EmbeddedEventLoop
    private var channels: [EmbeddedChannel] = []

    init(
        settings: RelaySettings,
        symbols: [String],
        status: FeedStatus,
        epoch: UInt64,
        replay: (any ReplayControlling)?,
        loop: EmbeddedEventLoop,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.loop = loop
        self.hub = RelayHub(
            settings: settings,
            protocols: .builtIn(settings),
            subscriptions: Subscriptions(Subscriptions.Settings(), retained: symbols, loop: loop),
            loop: loop,
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() }),
            gauges: RelayGauges(),
            instruments: Instruments(source: status.source),
            flow: nil,
            status: status,
            epoch: epoch,
            wallClock: wallClock
        )
        self.hub.replay = replay
        self.hub.followPrices()
        self.hub.start()
    }

    var reader: any TapeReader { HubReader(NIOLoopBound(self.hub, eventLoop: self.loop)) }

    /// Adds a client of Finnhub's protocol that subscribes to these symbols.
    func admitDropIn(asking symbols: [String], output: OutputDigest) throws {
        try self.admit("/?token=any", asking: symbols.map { FinnhubRequest.subscribe($0).encoded() }, output)
    }

    /// Adds a client of `/v1/stream`.
    ///
    /// - Parameter requests: the client's requests after it has connected.
    func admitStream(_ query: String, requests: [String] = [], output: OutputDigest) throws {
        try self.admit("/v1/stream\(query)", asking: requests.map { ByteBuffer(string: $0) }, output)
    }

    private func admit(_ target: String, asking requests: [ByteBuffer], _ output: OutputDigest) throws {
        let channel = EmbeddedChannel(loop: self.loop)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(Socket(output))
        try self.hub.join(pipeline, for: HTTPRequestHead(version: .http1_1, method: .GET, uri: target))
        self.channels.append(channel)
        for request in requests { try channel.writeInbound(WebSocketMessage.text(request)) }
    }

    /// Returns the bars of a symbol as `/v1/bars` sends them; `nil` if there are no bars.
    func bars(of symbol: String, _ width: BarWidth) -> ByteBuffer? {
        let query = BarQuery(width: width, limit: BarQuery.maximumBars)
        return self.hub.bars(of: symbol, query)?.body(symbol, query)
    }

    /// Stops the relay as at the end of a replay.
    func stop() {
        self.hub.stop(reason: "the replay is over", within: .seconds(1))
        for channel in self.channels { channel.close(promise: nil) }
        self.loop.run()
    }
}

/// A tape reader that passes everything to a relay's hub on the same loop, as ``RelayServer`` does.
private final class HubReader: TapeReader {
    private let hub: NIOLoopBound<RelayHub>

    init(_ hub: NIOLoopBound<RelayHub>) { self.hub = hub }

    func epochBegan(_ epoch: UInt64, first: UInt64, symbols: SymbolTable) {
        self.hub.value.take(.epochBegan(epoch, first: first))
    }
    func read(_ batch: TapeBatch) { self.hub.value.take(batch) }
    func statusChanged(_ status: FeedStatus) { self.hub.value.take(.status(status)) }
    func symbolChanged(_ status: SymbolStatus) { self.hub.value.take(.symbol(status)) }
    func symbolUnsubscribed(_ symbol: String) { self.hub.value.take(.unsubscribed(symbol)) }
    func gapFound(_ gap: Gap) { self.hub.value.take(.gap(gap)) }
    func gapSettled(_ outcome: GapOutcome) { self.hub.value.take(.settled(outcome)) }
}

/// A replay that reports its position and refuses every request.
final class HarnessReplay: ReplayControlling {
    private let place: @Sendable () -> ReplayPosition

    init(_ place: @escaping @Sendable () -> ReplayPosition) { self.place = place }

    func position() -> ReplayPosition { self.place() }

    func request(
        _ request: ReplayRequest,
        answer: @escaping @Sendable (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) { answer(.failure(ReplayRefusal("this replay takes no requests"))) }

    func watch(_ changed: @escaping @Sendable (ReplayPosition) -> Void) {}
}
