import Logging
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import WebSocket

@testable import Feeds

/// The stand-in's handler on a channel whose socket takes what the test lets it take.
@Suite("A stand-in's connection")
struct StandInHandlerTests {
    /// The socket: keeps what is written until the test lets it go.
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
        var closes: Int { self.written.count { if case .close = $0 { true } else { false } } }
    }

    private static let line =
        #"{"at":0,"frame":"{\"data\":[{\"c\":null,\"p\":1,\"s\":\"A\",\"t\":1723161255342,\"v\":1}],\"type\":\"trade\"}"}"#

    private func connect(go: Bool = true) throws -> (EmbeddedChannel, Socket, EventLoopPromise<Void>) {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(repeating: Self.line + "\n", count: 3).joined(), to: "a.jsonl")
        let channel = EmbeddedChannel()
        let promise = channel.eventLoop.makePromise(of: Void.self)
        if go { promise.succeed() }
        var settings = StandInSettings()
        settings.speed = nil
        let socket = Socket()
        let recording = try RecordingFile(path: path)
        let loop = channel.embeddedEventLoop
        let handler = StandInHandler(
            settings: settings,
            known: recording.allSymbols,
            go: promise.futureResult,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            makePlayer: { () throws(RecordingFile.Failure) in
                try ReplayPlayer(.recording(recording), settings: settings.replay, loop: loop, wallClock: { 1 })
            }
        )
        try channel.pipeline.syncOperations.addHandlers([socket, handler])
        // The handler opens the file when it begins, so it begins while the folder is there.
        _ = try withExtendedLifetime(folder) {
            try channel.writeInbound(WebSocketMessage.text(ByteBuffer(string: #"{"type":"subscribe","symbol":"A"}"#)))
        }
        return (channel, socket, promise)
    }

    @Test("says the end only when the last frame has left, however late that is")
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

    @Test("keeps no answers for a client that asks and does not read")
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
}
