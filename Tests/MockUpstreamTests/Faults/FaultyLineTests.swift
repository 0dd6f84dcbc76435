import NIOCore
import NIOEmbedded
import Testing
import WebSocket
@testable import Feeds
@testable import MockUpstream

/// A mock server's pipeline with faults, on a loop whose time the test controls.
@Suite("A faulty line")
struct FaultyLineTests {
    /// The socket's sending half, which an embedded channel does not have.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        var isOutputClosed = false

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            if mode == .output {
                self.isOutputClosed = true
                promise?.succeed()
            } else {
                context.close(mode: mode, promise: promise)
            }
        }
    }

    /// A connection with an open WebSocket, on which the test acts as the application.
    private final class Connection {
        let channel = EmbeddedChannel()
        let socket = Socket()
        let line: FaultyLine
        var reported: [String] = []

        init(_ texts: String..., latency: TimeAmount = .zero, jitter: TimeAmount = .zero) throws {
            var plan = try FaultPlan(parsing: texts)
            plan.latency = latency.nanoseconds
            plan.jitter = jitter.nanoseconds
            let faults = plan.connection(1)
            self.line = FaultyLine(faults)
            try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            let pipeline = self.channel.pipeline.syncOperations
            try pipeline.addHandlers([self.socket, self.line])
            var settings = WebSocketSettings(role: .server)
            settings.pingInterval = .seconds(20)
            try pipeline.addWebSocketHandlers(settings)
            try pipeline.addHandler(
                FaultHandler(faults, line: self.line) { [unowned self] in self.reported.append("\($0)") }
            )
        }

        func send(_ text: String) {
            self.channel.writeAndFlush(WebSocketOutput.text(ByteBuffer(string: text)), promise: nil)
        }

        func wait(_ time: TimeAmount) { self.channel.embeddedEventLoop.advanceTime(by: time) }

        /// Returns the bytes that have left since the last call.
        func taken() throws -> [UInt8] {
            var bytes: [UInt8] = []
            while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
            return bytes
        }

        /// Returns a frame as the server sends it.
        static func frame(_ text: String, opcode: UInt8 = 0x81) -> [UInt8] {
            [opcode, UInt8(text.utf8.count)] + text.utf8
        }

        deinit {
            self.line.stop()
            _ = try? self.channel.finish(acceptAlreadyClosed: true)
        }
    }

    @Test("carries everything at once where nothing is wrong with it")
    func sound() throws {
        let connection = try Connection()
        connection.send("one")
        #expect(try connection.taken() == Connection.frame("one"))
        #expect(connection.line.hasRoom)
    }

    @Test("drops at its moment, and sends nothing more")
    func drop() throws {
        let connection = try Connection("drop@10s")
        connection.wait(.seconds(9))
        connection.send("before")
        #expect(try connection.taken() == Connection.frame("before"))
        #expect(connection.reported.isEmpty)
        connection.wait(.seconds(1))
        #expect(connection.reported == ["drop"])
        #expect(connection.socket.isOutputClosed)
        connection.send("after")
        #expect(try connection.taken().isEmpty)
        // The line waits five seconds for a peer that never ends its side.
        connection.wait(.seconds(5))
        #expect(!connection.channel.isActive)
    }

    @Test("is reset at its moment")
    func reset() throws {
        let connection = try Connection("rst@10s")
        connection.wait(.seconds(9))
        #expect(connection.channel.isActive)
        connection.wait(.seconds(1))
        #expect(!connection.channel.isActive)
        #expect(!connection.socket.isOutputClosed)
        #expect(try connection.taken().isEmpty)
    }

    @Test("cuts the first frame after its moment in the middle, without a close frame")
    func cutFrame() throws {
        let connection = try Connection("cut-frame@10s")
        connection.wait(.seconds(10))
        #expect(connection.channel.isActive)
        connection.send("0123456789")
        #expect(try connection.taken() == Connection.frame("0123456789").dropLast(5))
        connection.send("more")
        #expect(try connection.taken().isEmpty)
    }

    @Test("closes with its code and reason at its moment")
    func close() throws {
        let connection = try Connection("close=1001,reason=restart@10s")
        connection.wait(.seconds(10))
        #expect(try connection.taken() == [0x88, 9, 0x03, 0xe9] + "restart".utf8)
    }

    @Test("falls silent: no answer to a ping, no ping, and the end of the peer is still seen")
    func silent() throws {
        let connection = try Connection("hang=data@10s")
        connection.wait(.seconds(10))
        connection.send("unheard")
        // A masked ping.
        try connection.channel.writeInbound(ByteBuffer(bytes: [0x89, 0x80, 1, 2, 3, 4]))
        connection.wait(.seconds(120))
        #expect(try connection.taken().isEmpty)
        // The WebSocket's own closing does not reach the socket.
        #expect(connection.channel.isActive)
        try connection.channel.close().wait()
        connection.wait(.minutes(7))
        #expect(connection.channel.isActive)
        connection.wait(.minutes(1))
        #expect(!connection.channel.isActive)
    }

    @Test("is half-open for ten minutes at most, reads nothing, and ends nothing")
    func halfOpen() throws {
        let connection = try Connection("half-open@10s")
        connection.wait(.seconds(10))
        try connection.channel.writeInbound(ByteBuffer(bytes: [0x88, 0x80, 1, 2, 3, 4]))
        connection.send("unheard")
        connection.wait(.minutes(9))
        #expect(try connection.taken().isEmpty)
        #expect(connection.channel.isActive)
        connection.wait(.minutes(1))
        #expect(!connection.channel.isActive)
    }

    @Test("sends bytes that are no frame, errors and huge messages at their moments")
    func sends() throws {
        let connection = try Connection("broken-frame@1s", "error=no@2s", "huge=64B@3s")
        connection.wait(.seconds(1))
        let broken = try connection.taken()
        #expect(broken.count == 64)
        #expect(broken[0] & 0x70 != 0)
        connection.wait(.seconds(1))
        #expect(try connection.taken() == Connection.frame(#"{"msg":"no","type":"error"}"#))
        connection.wait(.seconds(1))
        #expect(try connection.taken().count == 66)
        #expect(connection.reported.count == 3)
    }

    @Test("slow, carries its bytes per second in pieces, in order, and reports when there is no buffer space")
    func slow() throws {
        let connection = try Connection("slow=1kB/s")
        let text = String(repeating: "x", count: 124)
        for _ in 0..<1_000 { connection.send(text) }
        #expect(try connection.taken().isEmpty)
        #expect(!connection.line.hasRoom)
        var bytes: [UInt8] = []
        for second in 1...10 {
            connection.wait(.seconds(1))
            bytes += try connection.taken()
            #expect(bytes.count <= second * 1_000 && bytes.count > second * 1_000 - 200)
        }
        connection.wait(.seconds(116))
        bytes += try connection.taken()
        let frame = Connection.frame(text)
        // The server's pings come in between.
        let pings = bytes.count - 1_000 * frame.count
        #expect(pings >= 0 && pings <= 20)
        #expect(Array(bytes.prefix(10 * frame.count)) == Array((0..<10).map { _ in frame }.joined()))
        #expect(connection.line.hasRoom)
    }

    @Test("slow only for its span, and then as fast as before")
    func slowSpan() throws {
        let connection = try Connection("slow=10B/s@5s-10s")
        connection.send("fast")
        #expect(try connection.taken() == Connection.frame("fast"))
        connection.wait(.seconds(5))
        connection.send("abcdefgh")
        connection.wait(.milliseconds(500))
        #expect(try connection.taken().count <= 5)
        connection.wait(.seconds(5))
        _ = try connection.taken()
        connection.send("fast")
        #expect(try connection.taken() == Connection.frame("fast"))
    }

    @Test("drops a client that makes it keep more than 32 MB")
    func bounded() throws {
        let connection = try Connection("slow=1B/s@0s-1h")
        connection.wait(.zero)
        connection.line.limitRate(1_000_000_000)
        let megabyte = ByteBuffer(repeating: 0x78, count: 1 << 20)
        for _ in 0..<40 { connection.channel.writeAndFlush(WebSocketOutput.text(megabyte), promise: nil) }
        #expect(try connection.taken().isEmpty)
        // The client is dropped: the bytes on the line are discarded, and a second later nothing more has come.
        connection.line.limitRate(nil)
        connection.wait(.seconds(1))
        #expect(try connection.taken().isEmpty)
        connection.wait(.seconds(4))
        #expect(!connection.channel.isActive)
    }

    @Test("distant, delivers everything later by the latency and some of the jitter, in order")
    func latency() throws {
        let connection = try Connection(latency: .milliseconds(200), jitter: .milliseconds(100))
        connection.send("a")
        connection.wait(.milliseconds(100))
        connection.send("b")
        connection.wait(.milliseconds(99))
        #expect(try connection.taken().isEmpty)
        connection.wait(.milliseconds(101))
        #expect(try Array(connection.taken().prefix(3)) == Connection.frame("a"))
        connection.wait(.milliseconds(100))
        let later = try connection.taken()
        #expect(later.isEmpty || later == Connection.frame("b"))
    }

    @Test("distant, ends only when the bytes before the end have arrived")
    func latencyBeforeTheEnd() throws {
        let connection = try Connection(latency: .seconds(1))
        connection.send("last")
        connection.channel.close(promise: nil)
        connection.wait(.milliseconds(900))
        #expect(connection.channel.isActive)
        connection.wait(.milliseconds(100))
        #expect(try connection.taken() == Connection.frame("last"))
        #expect(!connection.channel.isActive)
    }

    @Test("distant, drops only after the bytes sent before the drop, half a frame included")
    func latencyBeforeTheDrop() throws {
        let connection = try Connection("cut-frame", latency: .seconds(1))
        connection.send("0123456789")
        connection.send("more")
        connection.wait(.milliseconds(900))
        #expect(!connection.socket.isOutputClosed)
        connection.wait(.milliseconds(100))
        #expect(try connection.taken() == Connection.frame("0123456789").dropLast(5))
        #expect(connection.socket.isOutputClosed)
        connection.wait(.seconds(5))
        #expect(!connection.channel.isActive)
    }

    @Test("a frame that waits to be overtaken leaves before the end of the recording is sent")
    func heldFrame() throws {
        let connection = try Connection("reorder=1")
        let trade = #"{"data":[{"c":null,"p":1,"s":"A","t":1723161255342,"v":1}],"type":"trade"}"#
        connection.send(trade)
        #expect(try connection.taken().isEmpty)
        connection.channel.writeAndFlush(WebSocketOutput.close(.normal, reason: "end"), promise: nil)
        let frame = Connection.frame(trade)
        #expect(try Array(connection.taken().prefix(frame.count)) == frame)
    }
}
