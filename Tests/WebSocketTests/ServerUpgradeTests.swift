import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
@testable import WebSocket

/// A server's opening handshake on an embedded channel.
private final class Server {
    static let good =
        "GET /path HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

    let channel = EmbeddedChannel()
    let witness = Witness()

    init(
        decision: WebSocketServerDecision = .accept([:]),
        otherwise: (@Sendable (any Channel) throws -> Void)? = nil
    ) throws {
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let witness = NIOLoopBound(self.witness, eventLoop: self.channel.embeddedEventLoop)
        try self.channel.configureWebSocketServer(
            decide: { _ in decision },
            upgraded: { channel, _ in try channel.pipeline.syncOperations.addHandler(witness.value) },
            otherwise: otherwise
        ).wait()
    }

    deinit {
        _ = try? self.channel.finish()
    }

    func receive(_ bytes: [UInt8]) throws {
        guard self.channel.isActive else { return }
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
    }

    func sent() throws -> String {
        var text = ""
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }
}

@Suite struct ServerUpgradeTests {
    @Test("A request and the frames behind it are taken at every cut")
    func upgradesAtEveryCut() throws {
        let wire = Array(Server.good.utf8) + Frame.text("early", mask: anyMask).bytes
        for pieces in cuts(of: wire) {
            let server = try Server()
            for piece in pieces { try server.receive(piece) }
            let sent = try server.sent()
            #expect(sent.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
            #expect(sent.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
            #expect(server.witness.seen.filter { $0 != .readComplete } == [.text("early")])
        }
    }

    static let wrongs: [(request: String, status: String)] = [
        (Server.good.replacing("GET", with: "POST"), "405 Method Not Allowed"),
        (Server.good.replacing("Upgrade: websocket\r\n", with: ""), "426 Upgrade Required"),
        (Server.good.replacing("Version: 13", with: "Version: 12"), "426 Upgrade Required"),
        (Server.good.replacing("Connection: Upgrade\r\n", with: ""), "400 Bad Request"),
        (Server.good.replacing("dGhl", with: "dGh"), "400 Bad Request"),
        (Server.good.replacing("HTTP/1.1", with: "HTTP/1.0"), "400 Bad Request"),
        ("\u{16}\u{3}\u{1} TLS where none is\r\n\r\n", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 9_000))", "431 Request Header Fields Too Large"),
    ]

    @Test("Wrong requests are answered with their status and one line, and the connection ends", arguments: Self.wrongs)
    func refuses(request: String, status: String) throws {
        let server = try Server()
        try server.receive(Array(request.utf8))
        let sent = try server.sent()
        #expect(sent.hasPrefix("HTTP/1.1 \(status)\r\n"))
        #expect(!sent.hasSuffix("\r\n\r\n"))
        #expect(!server.channel.isActive)
    }

    @Test("A refusal by the application has its status, headers and body; what could split the answer is left out")
    func refusesByDecision() throws {
        let headers: HTTPHeaders = ["Retry-After": "60", "X-Split": "a\r\nEvil: b"]
        let server = try Server(decision: .refuse(.tooManyRequests, headers: headers, body: "slow down"))
        try server.receive(Array(Server.good.utf8))
        let sent = try server.sent()
        #expect(sent.hasPrefix("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\n"))
        #expect(sent.hasSuffix("Content-Length: 9\r\n\r\nslow down"))
        #expect(!sent.contains("Evil"))
    }

    @Test("Headers of an acceptance are added to the 101")
    func addsHeaders() throws {
        let server = try Server(decision: .accept(["Sec-WebSocket-Protocol": "one"]))
        try server.receive(Array(Server.good.utf8))
        #expect(try server.sent().contains("\r\nSec-WebSocket-Protocol: one\r\n"))
    }

    @Test("A request that dawdles is answered with 408; silence is not answered")
    func timesOut() throws {
        var server = try Server()
        try server.receive(Array(Server.good.utf8.dropLast()))
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(try server.sent().hasPrefix("HTTP/1.1 408 "))
        #expect(!server.channel.isActive)
        server = try Server()
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(try server.sent() == "")
        #expect(!server.channel.isActive)
    }

    @Test("The handshake's time limit does not touch an open WebSocket")
    func timerEnds() throws {
        let server = try Server()
        try server.receive(Array(Server.good.utf8))
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(11))
        #expect(server.channel.isActive)
    }

    @Test("Another request is handed over with every byte, at every cut, when somebody takes such")
    func handsOver() throws {
        let wire = Array("GET /livez HTTP/1.1\r\nHost: x\r\n\r\nmore".utf8)
        for pieces in cuts(of: wire) {
            let server = try Server(otherwise: { try $0.pipeline.syncOperations.addHandler(Forwarder()) })
            for piece in pieces { try server.receive(piece) }
            var taken: [UInt8] = []
            while let buffer = try server.channel.readInbound(as: ByteBuffer.self) { taken += buffer.readableBytesView }
            #expect(taken == wire)
            #expect(try server.sent() == "")
        }
    }
}

/// A protocol of somebody else's, which takes bytes.
private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
}
