import HTTP
import MockUpstream
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

    init(refusal: HTTPAnswer? = nil, answer: HTTPAnswer? = nil) throws {
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let witness = self.witness
        let service = MockService(
            answer: answer.map { answer in { _ in MockAnswer(answer) } },
            refusal: { _ in refusal },
            opened: { channel, _, _ in try channel.pipeline.syncOperations.addHandler(witness) }
        )
        try HTTPServerConnection.addHandlers(to: self.channel.pipeline.syncOperations, service)
    }

    deinit {
        _ = try? self.channel.finish()
    }

    func receive(_ bytes: [UInt8]) throws {
        guard self.channel.isActive else { return }
        // A socket's channel reads before and after the input, too.
        self.channel.read()
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
        self.channel.read()
        self.channel.embeddedEventLoop.run()
    }

    /// Advances the clock by the time that the server grants a quiet peer after its last response.
    func letEnd() { self.channel.embeddedEventLoop.advanceTime(by: .seconds(2)) }

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
        server.letEnd()
        #expect(!server.channel.isActive)
    }

    @Test("A refusal by the application has its status, headers and body")
    func refusesByDecision() throws {
        let server = try Server(refusal: .text(.tooManyRequests, "slow down", headers: ["Retry-After": "60"]))
        try server.receive(Array(Server.good.utf8))
        let sent = try server.sent()
        #expect(sent.hasPrefix("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\n"))
        #expect(sent.contains("\r\nContent-Length: 9\r\n"))
        #expect(sent.hasSuffix("\r\n\r\nslow down"))
    }

    @Test("A request that dawdles is answered with 408, and so is silence")
    func timesOut() throws {
        for request in [Array(Server.good.utf8.dropLast()), []] {
            let server = try Server()
            try server.receive(request)
            server.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
            #expect(try server.sent().hasPrefix("HTTP/1.1 408 "))
            server.letEnd()
            #expect(!server.channel.isActive)
        }
    }

    @Test("The handshake's time limit does not touch an open WebSocket")
    func timerEnds() throws {
        let server = try Server()
        try server.receive(Array(Server.good.utf8))
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(11))
        #expect(server.channel.isActive)
    }

    @Test(
        "Requests that ask for no WebSocket are answered one after the other, and one that does opens it, at every cut"
    )
    func answersOthers() throws {
        let wire = Array("GET /a HTTP/1.1\r\nHost: x\r\n\r\n".utf8) + Array(Server.good.utf8)
        for pieces in cuts(of: wire) {
            let server = try Server(answer: .text(.ok, "an answer"))
            for piece in pieces { try server.receive(piece) }
            let sent = try server.sent()
            #expect(sent.hasPrefix("HTTP/1.1 200 OK\r\n"))
            let end = try #require(sent.firstRange(of: "\r\n\r\nan answer"))
            #expect(sent[end.upperBound...].hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        }
    }
}
