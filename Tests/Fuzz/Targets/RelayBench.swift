import HTTP
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

/// A relay for one input, on a loop whose time the input's rules move. One symbol has traded.
final class RelayBench {
    static let symbol = "A"

    let loop = EmbeddedEventLoop()
    private let hub: RelayHub
    private var tape = Tape(epoch: 7)
    private var symbols = SymbolTable()
    private var parser = FinnhubParser()

    init() throws(FuzzFinding) {
        var settings = RelaySettings()
        settings.pipeline = PricePipeline.Settings(quiet: 0, atMost: nil)
        settings.lines = Endpoint(host: "127.0.0.1", port: 0)
        settings.wamp = true
        settings.wampBroker = true
        settings.rooms = true
        settings.maximumWaitingBytes = 64 << 10
        settings.webSocket.pingInterval = nil
        self.hub = RelayHub(
            settings: settings,
            protocols: .builtIn(settings),
            subscriptions: Subscriptions(Subscriptions.Settings(limit: 3), loop: self.loop),
            loop: self.loop,
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() }),
            gauges: RelayGauges(),
            instruments: Instruments(),
            flow: nil,
            status: FeedStatus(source: .live, phase: .live, since: 1),
            epoch: 7,
            wallClock: { 1_721_555_886_208_000_000 }
        )
        self.hub.followPrices()
        self.play()
    }

    /// Plays one trade.
    func play() {
        let frame = ByteBuffer(
            string: #"{"data":[{"c":null,"p":1.5,"s":"\#(Self.symbol)","t":1721555886208,"v":2}],"type":"trade"}"#
        )
        var trades: [Trade] = []
        _ = self.parser.parse(frame, symbols: &self.symbols, into: &trades)
        self.hub.take(
            TapeBatch(
                epoch: 7,
                firstSequence: self.tape.append(count: trades.count),
                received: 1_721_555_886_208_000_000,
                receivedMonotonic: Int64(self.loop.now.uptimeNanoseconds),
                trades: trades,
                frames: [TapeBatch.Frame(bytes: frame, trades: 0..<trades.count, isWhole: true, isMalformed: false)],
                symbols: self.symbols
            )
        )
        self.loop.run()
    }

    /// Adds a client of a WebSocket, as its messages.
    func webSocket(_ path: String, subprotocol: String? = nil) throws -> RelayBenchClient {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
        if let subprotocol { head.headers.add(name: "Sec-WebSocket-Protocol", value: subprotocol) }
        return try self.client { try self.hub.join($0, for: head) }
    }

    /// Adds a client of plain lines, as its bytes.
    func lines() throws -> RelayBenchClient { try self.client { try self.hub.joinLines($0) } }

    private func client(_ join: (ChannelPipeline.SynchronousOperations) throws -> Void) throws -> RelayBenchClient {
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try join(channel.pipeline.syncOperations)
        return RelayBenchClient(channel: channel)
    }

    /// Ends the relay.
    func stop() {
        self.hub.stop(reason: "the relay is stopping", within: .seconds(1))
        self.loop.run()
    }
}

/// A client of a ``RelayBench``.
struct RelayBenchClient {
    let channel: EmbeddedChannel

    func send(_ message: ByteBuffer, isBinary: Bool = false) throws {
        try self.channel.writeInbound(isBinary ? WebSocketMessage.binary(message) : .text(message))
        self.channel.embeddedEventLoop.run()
    }

    func send(_ text: String) throws { try self.send(ByteBuffer(string: text)) }

    /// Sends bytes of plain lines. A socket is read again after each read, and a read brings a part of them.
    func send(bytes: [UInt8]) throws {
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
        for _ in 0...bytes.count / 256 where self.channel.isActive {
            self.channel.read()
            self.channel.embeddedEventLoop.run()
        }
    }

    /// Returns the messages that came since the last call, without their frames.
    func takeMessages() throws -> [ByteBuffer] {
        var messages: [ByteBuffer] = []
        while let output = try self.channel.readOutbound(as: WebSocketOutput.self) {
            guard case .framed(var bytes) = output else { continue }
            while let (_, short) = bytes.readMultipleIntegers(as: (UInt8, UInt8).self) {
                var length = Int(short)
                if length == 126 { length = Int(bytes.readInteger(as: UInt16.self) ?? 0) }
                if short == 127 { length = Int(bytes.readInteger(as: UInt64.self) ?? 0) }
                guard let payload = bytes.readSlice(length: length) else { throw FuzzFinding("half a frame was sent") }
                messages.append(payload)
            }
        }
        return messages
    }

    /// Returns the bytes of plain lines that came since the last call.
    func takeBytes() throws -> ByteBuffer {
        var bytes = ByteBuffer()
        while var part = try self.channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&part) }
        return bytes
    }

    /// Ends the connection, and every wait of the loop.
    func finish() {
        let loop = self.channel.embeddedEventLoop
        _ = try? self.channel.finish(acceptAlreadyClosed: true)
        loop.advanceTime(by: .minutes(1))
    }
}

extension FuzzFinding {
    /// Runs a conversation, in which nothing else may be thrown.
    static func wrapping<Result>(_ body: () throws -> Result) throws(FuzzFinding) -> Result {
        do {
            return try body()
        } catch {
            throw (error as? FuzzFinding) ?? FuzzFinding("\(error) was thrown")
        }
    }
}
