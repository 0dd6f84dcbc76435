import Logging
import Market
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Recordings
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import MockUpstream

/// A venue's server on one clock for all clients, with time advanced by hand.
@Suite("A venue's clients on a shared clock")
struct VenueClockTests {
    /// A socket that takes everything.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = WebSocketOutput
        var texts: [String] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if case .text(let text) = self.unwrapOutboundIn(data) { self.texts.append(String(buffer: text)) }
            promise?.succeed()
        }
    }

    /// The parts of a server without its sockets.
    private struct Server {
        let loop = EmbeddedEventLoop()
        let clients: MockServerClients

        init(_ frames: [String], of dialect: FrameDialect, in folder: TemporaryFolder) throws {
            var recording = RecordingBuffer(RecordingHeader(version: RecordingHeader.dialectVersion, start: 1))
            for (second, frame) in frames.enumerated() {
                recording.frame(ByteBuffer(string: frame), of: dialect, at: Int64(second) * 1_000_000_000)
            }
            recording.end()
            let file = try RecordingFile(path: try folder.write(String(buffer: recording.bytes), to: "a.jsonl"))
            var settings = MockServerSettings()
            settings.speed = 1
            settings.sharesClock = true
            settings.replay.waitsForAll = false
            let source = try ReplaySource(.recording(file), settings: settings, loop: self.loop, wallClock: { 0 })
            self.clients = MockServerClients(settings, source: source)
        }

        func connect(_ uri: String, saying text: String) throws -> (EmbeddedChannel, Socket) {
            let channel = EmbeddedChannel(loop: self.loop)
            let socket = Socket()
            let handler = self.clients.makeHandler(
                HTTPRequestHead(version: .http1_1, method: .GET, uri: uri),
                line: nil,
                go: self.loop.makeSucceededVoidFuture(),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            try channel.pipeline.syncOperations.addHandlers([socket, handler])
            try channel.writeInbound(WebSocketMessage.text(ByteBuffer(string: text)))
            self.loop.run()
            return (channel, socket)
        }
    }

    @Test("Coinbase's newest trade at a subscription tells what was missed while the client was away")
    func coinbase() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let frames = (1...9).map { VenueServerTests.coinbase("A-B", $0) }
        let server = try Server(frames, of: .coinbase, in: folder)
        let subscribe = #"{"type":"subscribe","product_ids":["A-B"],"channels":["matches","heartbeat"]}"#
        let (first, socket) = try server.connect("/", saying: subscribe)
        server.loop.advanceTime(by: .milliseconds(2_500))
        #expect(socket.texts.filter { $0.contains(#""type":"match""#) } == Array(frames[..<3]))
        #expect(socket.texts.contains { $0.contains(#""heartbeat","sequence":15,"last_trade_id":2"#) })
        first.close(promise: nil)
        server.loop.advanceTime(by: .seconds(3))
        let (second, again) = try server.connect("/", saying: subscribe)
        #expect(again.texts.count == 2 && again.texts[1].hasPrefix(#"{"type":"last_match","trade_id":6,"#))
        server.loop.advanceTime(by: .milliseconds(600))
        #expect(again.texts.last == frames[6])
        _ = try second.finish(acceptAlreadyClosed: true)
    }

    @Test("Kraken's snapshot repeats what the client had and adds what it missed, and a silence has heartbeats")
    func kraken() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var frames = (1...3).map { VenueServerTests.kraken([("BTC/USD", $0)]) }
        frames += Array(repeating: #"{"channel":"heartbeat"}"#, count: 5) + [VenueServerTests.kraken([("BTC/USD", 4)])]
        let server = try Server(frames, of: .kraken, in: folder)
        let subscribe =
            #"{"method":"subscribe","params":{"channel":"trade","symbol":["BTC/USD"],"snapshot":true}}"#
        let (first, socket) = try server.connect("/v2", saying: subscribe)
        #expect(socket.texts.contains(#"{"channel":"trade","type":"snapshot","data":[]}"#))
        first.close(promise: nil)
        server.loop.advanceTime(by: .milliseconds(2_500))
        let (second, again) = try server.connect("/v2", saying: subscribe)
        let snapshot = try #require(again.texts.first { $0.contains(#""type":"snapshot""#) })
        #expect((1...3).allSatisfy { snapshot.contains(#""trade_id":\#($0),"#) })
        server.loop.advanceTime(by: .milliseconds(5_600))
        #expect(again.texts.filter { $0 == #"{"channel":"heartbeat"}"# }.count == 5 && again.texts.last == frames[8])
        _ = try second.finish(acceptAlreadyClosed: true)
    }
}
