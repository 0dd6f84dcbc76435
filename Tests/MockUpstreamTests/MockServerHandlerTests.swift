import Logging
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Feeds
@testable import MockUpstream

/// The mock server's handler on a channel whose socket takes bytes only while the test lets it.
@Suite("A mock server's connection")
struct MockServerHandlerTests {
    /// A socket that keeps the written messages until the test releases them.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = WebSocketOutput

        var written: [WebSocketOutput] = []
        private var promises: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            self.written.append(self.unwrapOutboundIn(data))
            if let promise { self.promises.append(promise) }
        }

        func takeAll() {
            let promises = self.promises
            self.promises = []
            for promise in promises { promise.succeed() }
        }

        var texts: Int { self.written.count { if case .text = $0 { true } else { false } } }
        /// Returns the messages written since the last call.
        func take() -> [WebSocketOutput] {
            defer { self.written = [] }
            return self.written
        }
        var closes: Int { self.written.count { if case .close = $0 { true } else { false } } }
    }

    private static let line =
        #"{"at":0,"frame":"{\"data\":[{\"c\":null,\"p\":1,\"s\":\"A\",\"t\":1723161255342,\"v\":1}],\"type\":\"trade\"}"}"#

    private func connect(
        go: Bool = true,
        speed: Double? = nil,
        text: String = Array(repeating: Self.line + "\n", count: 3).joined()
    ) throws -> (EmbeddedChannel, Socket, EventLoopPromise<Void>) {
        let socket = Socket()
        let (channel, promise) = try self.connect(to: socket, go: go, speed: speed, text: text)
        return (channel, socket, promise)
    }

    private func connect(
        to socket: some ChannelOutboundHandler,
        go: Bool = true,
        speed: Double? = nil,
        text: String
    ) throws -> (EmbeddedChannel, EventLoopPromise<Void>) {
        let folder = try TemporaryFolder()
        let path = try folder.write(text, to: "a.jsonl")
        let channel = EmbeddedChannel()
        let promise = channel.eventLoop.makePromise(of: Void.self)
        if go { promise.succeed() }
        var settings = MockServerSettings()
        settings.speed = speed
        let recording = try RecordingFile(path: path)
        let loop = channel.embeddedEventLoop
        let handler = MockServerHandler(
            settings: settings,
            session: FinnhubMockSession(
                MockSessionOpening(
                    known: recording.allSymbols,
                    pingInterval: settings.pingInterval?.nanoseconds
                )
            ),
            go: promise.futureResult,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            makePlayer: { () throws(RecordingFailure) in
                try ReplayPlayer(.recording(recording), settings: settings.replay, loop: loop, wallClock: { 1 })
            }
        )
        try channel.pipeline.syncOperations.addHandlers([socket, handler])
        // The handler opens the file when it begins, so it must begin while the folder exists.
        _ = try withExtendedLifetime(folder) {
            try channel.writeInbound(WebSocketMessage.text(ByteBuffer(string: #"{"type":"subscribe","symbol":"A"}"#)))
        }
        return (channel, promise)
    }

    @Test("sends the end only when the last frame has left, however late that is")
    func endWhenWritten() throws {
        let (channel, socket, _) = try self.connect()
        #expect(socket.texts == 3)
        channel.embeddedEventLoop.advanceTime(by: .minutes(10))
        #expect(socket.closes == 0)
        socket.takeAll()
        #expect(socket.closes == 1)
        socket.takeAll()
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    /// A socket that is full after some messages and takes them all with the flush, like a kernel with buffer space.
    private final class QuickSocket: ChannelOutboundHandler {
        typealias OutboundIn = WebSocketOutput

        private static let mark = 3
        private(set) var texts = 0
        private var waiting = 0

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if case .text = self.unwrapOutboundIn(data) { self.texts += 1 }
            self.waiting += 1
            if self.waiting == Self.mark { Self.setWritable(false, context.channel) }
            promise?.succeed()
        }

        func flush(context: ChannelHandlerContext) {
            let wasFull = self.waiting >= Self.mark
            self.waiting = 0
            if wasFull { Self.setWritable(true, context.channel) }
        }

        private static func setWritable(_ isWritable: Bool, _ channel: any Channel) {
            (channel as? EmbeddedChannel)?.isWritable = isWritable
            channel.pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    @Test("continues after the socket was full and took all writes with one flush")
    func quickSocket() throws {
        let socket = QuickSocket()
        let text = Array(repeating: Self.line + "\n", count: 100).joined()
        let (channel, _) = try self.connect(to: socket, text: text)
        channel.embeddedEventLoop.run()
        #expect(socket.texts == 100)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("closes as the recorded service did, after the frames that were played")
    func recordedClosing() throws {
        let later = Self.line.replacing(#"{"at":0,"#, with: #"{"at":60000000000,"#)
        let (channel, socket, _) = try self.connect(speed: 1, text: Self.line + "\n" + later + "\n")
        let handler = try channel.pipeline.syncOperations.handler(type: MockServerHandler.self)
        socket.takeAll()
        handler.closed(RecordedClosing(at: 0, code: 1008, reason: "API limit"))
        #expect(socket.closes == 0)
        socket.takeAll()
        guard case .close(let code, let reason)? = socket.take().last else {
            Issue.record("no close frame")
            return
        }
        #expect(code == .policy && reason == "API limit")
        socket.takeAll()
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("does not begin before the go when the socket becomes writable")
    func waitsForGo() throws {
        let (channel, socket, go) = try self.connect(go: false)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(socket.texts == 0)
        go.succeed()
        #expect(socket.texts == 3)
        socket.takeAll()
        socket.takeAll()
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("queues no answers for a client that does not read")
    func floods() throws {
        let (channel, socket, go) = try self.connect(go: false)
        let bad = WebSocketMessage.text(ByteBuffer(string: #"{"type":"subscribe","symbol":"NO"}"#))
        try channel.writeInbound(bad)
        #expect(socket.texts == 1)
        channel.isWritable = false
        for _ in 0..<1_000 { try channel.writeInbound(bad) }
        #expect(socket.texts == 1)
        go.succeed()
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("a recorded ping is sent at its time with its payload, and suppresses the server's own pings")
    func recordedPings() throws {
        let pings = (1...5).map { minute in
            #"{"at":\#(minute * 60_000_000_000),"dir":"in","event":"\#(minute == 3 ? "pong" : "ping")","frame":"n\#(minute)"}"#
        }
        let line = Self.line.replacing("\"at\":0", with: "\"at\":900000000000")
        let text = ([Self.line] + pings + [line]).joined(separator: "\n")
        let (channel, socket, _) = try self.connect(speed: 1, text: text)
        #expect(socket.take().count == 1)
        let own = WebSocketOutput.text(FinnhubEncoder.ping)
        for minute in 1...5 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            // The server does not know of recorded pings before the first one.
            #expect(socket.take() == [])
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            let opcode: UInt8 = minute == 3 ? 0x8A : 0x89
            let recorded = WebSocketOutput.framed(ByteBuffer(bytes: [opcode, 2] + Array("n\(minute)".utf8)))
            let found = socket.take()
            #expect(found.contains(recorded))
            if minute == 2 || minute == 5 { #expect(found == [recorded]) }
        }
        // The recording has no more pings, so the server sends its own again within two intervals.
        channel.embeddedEventLoop.advanceTime(by: .seconds(120))
        #expect(socket.take() == [own])
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
