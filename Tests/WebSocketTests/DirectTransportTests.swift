import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing
@testable import WebSocket

/// A transport that takes as much as the test allows, and records the bytes.
private final class Pipe: DirectTransport {
    /// The number of bytes that it takes in each call; when the list is empty, it takes all.
    var room: [Int] = []
    private(set) var calls = 0
    private(set) var interruptions = 0
    private(set) var bytes: [UInt8] = []

    func send(_ bytes: ByteBuffer) -> Int { self.send([bytes]) }

    func interrupted() { self.interruptions += 1 }

    func send(_ buffers: [ByteBuffer]) -> Int {
        self.calls += 1
        let all = buffers.flatMap { $0.readableBytesView }
        let taken = self.room.isEmpty ? all.count : min(all.count, self.room.removeFirst())
        self.bytes += all[..<taken]
        return taken
    }
}

@Suite("Sending past the channel")
struct DirectTransportTests {
    private let connection: Connection
    private let pipe = Pipe()
    private let handler: WebSocketHandler

    init() throws {
        self.connection = try Connection(.server)
        self.handler = try self.connection.channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        self.handler.sendDirectly(through: self.pipe)
    }

    private func frame(_ text: String) -> ByteBuffer {
        var frame = ByteBuffer()
        WebSocketFraming.serverText(ByteBuffer(string: text), into: &frame)
        return frame
    }

    private func write(_ texts: String...) {
        for text in texts { self.handler.writeFramed(self.frame(text)) }
    }

    private func bytes(_ texts: String...) -> [UInt8] { texts.flatMap { self.frame($0).readableBytesView } }

    @Test("what was written since the last flush leaves with one call")
    func gathers() throws {
        self.write("a", "b", "c")
        #expect(self.pipe.calls == 0)
        #expect(!self.handler.flushFramed())
        self.write("d")
        #expect(!self.handler.flushFramed())
        #expect(self.pipe.calls == 2)
        #expect(self.pipe.bytes == self.bytes("a", "b", "c", "d"))
        #expect(try self.connection.sentBytes().isEmpty)
    }

    @Test("a flush with nothing written calls nobody")
    func nothingToSend() {
        #expect(!self.handler.flushFramed())
        #expect(self.pipe.calls == 0)
    }

    @Test("what the transport does not take goes through the channel, whole and in order", arguments: 0...12)
    func partial(taken: Int) throws {
        self.pipe.room = [taken]
        self.write("one", "two")
        _ = self.handler.flushFramed()
        let all = self.bytes("one", "two")
        #expect(self.pipe.bytes == Array(all.prefix(taken)))
        #expect(try self.connection.sentBytes() == Array(all.dropFirst(taken)))
    }

    @Test("nothing goes past bytes that wait in the channel")
    func keepsOrder() throws {
        let gate = Gate()
        try self.connection.channel.pipeline.syncOperations.addHandler(gate, position: .first)
        self.pipe.room = [0]
        self.write("one")
        _ = self.handler.flushFramed()
        self.write("two")
        self.write("three")
        _ = self.handler.flushFramed()
        // The embedded channel counts its unflushed bytes, so a gate that swallows flushes simulates a full socket.
        #expect(self.handler.waitingBytes == self.bytes("one", "two", "three").count)
        #expect(self.pipe.calls == 1)
        gate.isOpen = true
        self.connection.channel.flush()
        #expect(try self.connection.sentBytes() == self.bytes("one", "two", "three"))
        #expect(self.handler.waitingBytes == 0)
        self.write("four")
        #expect(!self.handler.flushFramed())
        #expect(self.pipe.bytes == self.bytes("four"))
    }

    @Test("a pong between two frames leaves between them")
    func pong() throws {
        self.write("before")
        try self.connection.receive(.ping([1, 2]))
        let pong = Frame.pong([1, 2]).bytes
        // The held frame precedes the pong, so both go through the channel.
        #expect(try self.connection.sentBytes() == self.bytes("before") + pong)
        #expect(self.pipe.calls == 0)
        self.write("behind")
        _ = self.handler.flushFramed()
        #expect(self.pipe.bytes == self.bytes("behind"))
    }

    @Test("the close frame stands behind all that was written, and nothing follows it")
    func close() throws {
        self.write("last")
        _ = self.connection.send(.close(.goingAway, reason: "bye"))
        self.write("late")
        _ = self.handler.flushFramed()
        let frames = try self.connection.sentFrames()
        #expect(frames.map(\.first) == [0x81, 0x88])
        #expect(self.pipe.calls == 0)
    }

    @Test("a channel that is gone is never written past")
    func inactive() throws {
        self.write("held")
        try self.connection.channel.close().wait()
        #expect(self.pipe.bytes == self.bytes("held"), "what was held leaves before the end")
        let calls = self.pipe.calls
        self.write("late")
        _ = self.handler.flushFramed()
        self.connection.channel.embeddedEventLoop.run()
        self.write("later")
        _ = self.handler.flushFramed()
        #expect(self.pipe.calls == calls)
    }

    /// An event that must forbid frames past the handler, or that ends the connection.
    enum Interruption: CaseIterable {
        case written, ping, close, peersClose, end, removal
    }

    @Test("frames may go past it while nothing stands in front, until that is told", arguments: Interruption.allCases)
    func letsPast(interruption: Interruption) throws {
        #expect(self.handler.allowBypass())
        #expect(self.pipe.interruptions == 0)
        switch interruption {
        case .written: self.write("held")
        case .ping: try self.connection.receive(.ping([1]))
        case .close: _ = self.connection.send(.close(.goingAway, reason: ""))
        case .peersClose: try self.connection.receive(.close(1000, ""))
        case .end: try self.connection.channel.close().wait()
        case .removal: _ = try self.connection.channel.finish()
        }
        #expect(self.pipe.interruptions == 1)
        switch interruption {
        case .written:
            #expect(!self.handler.allowBypass(), "it holds a frame")
            _ = self.handler.flushFramed()
            #expect(self.handler.allowBypass())
        case .ping: #expect(self.handler.allowBypass(), "the pong has left")
        case .close, .peersClose, .end, .removal: #expect(!self.handler.allowBypass())
        }
    }

    @Test("the rest of what went past it comes behind its beginning, and nothing goes past while that waits")
    func writesRest() throws {
        let gate = Gate()
        try self.connection.channel.pipeline.syncOperations.addHandler(gate, position: .first)
        #expect(self.handler.allowBypass())
        #expect(self.handler.writeRest(of: self.frame("whole"), behind: 3))
        #expect(self.pipe.interruptions == 1)
        #expect(!self.handler.allowBypass())
        self.write("next")
        _ = self.handler.flushFramed()
        gate.isOpen = true
        self.connection.channel.flush()
        #expect(try self.connection.sentBytes() == Array((self.bytes("whole") + self.bytes("next")).dropFirst(3)))
        #expect(self.handler.allowBypass())
        #expect(self.pipe.calls == 0)
    }

    @Test("nothing goes past a handler without a transport")
    func needsTransport() throws {
        let connection = try Connection(.server)
        let handler = try connection.channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        #expect(!handler.allowBypass())
    }

    @Test("more buffers than one call takes go through the channel in order")
    func many() throws {
        let texts = (0..<200).map { "message \($0)" }
        for text in texts { self.handler.writeFramed(self.frame(text)) }
        _ = self.handler.flushFramed()
        #expect(try self.connection.sentBytes() == texts.flatMap { self.bytes($0) })
        #expect(self.pipe.calls == 0)
    }

    @Test("without a transport everything goes through the channel at once")
    func plain() throws {
        let connection = try Connection(.server)
        let handler = try connection.channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        handler.writeFramed(self.frame("a"))
        #expect(!handler.flushFramed())
        #expect(try connection.sentBytes() == self.bytes("a"))
    }
}

/// A socket that takes nothing until the test opens it: it swallows flushes.
private final class Gate: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var isOpen = false
    func flush(context: ChannelHandlerContext) { if self.isOpen { context.flush() } }
}
