import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
@testable import WebSocket

/// A client on an embedded channel that requests a tunnel from a proxy.
private final class Tunnel {
    let channel = EmbeddedChannel()
    var result: Result<Void, any Error>?

    init(connected: Bool = true, _ change: (inout TunnelRequest) -> Void = { _ in }) throws {
        if connected { try self.connect() }
        var request = TunnelRequest(host: "example.org", port: 443)
        change(&request)
        self.channel.openTunnel(request).assumeIsolated().whenComplete { self.result = $0 }
    }

    deinit {
        _ = try? self.channel.finish()
    }

    func connect() throws {
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func sent() throws -> String? {
        try self.channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
    }

    func receive(_ bytes: [UInt8]) throws {
        guard self.channel.isActive else { return }
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
    }

    var error: WebSocketUpgradeError? {
        if case .failure(let error) = self.result { error as? WebSocketUpgradeError } else { nil }
    }

    var isOpen: Bool {
        if case .success = self.result { true } else { false }
    }
}

@Suite struct TunnelTests {
    @Test("The request names the host twice, with its port, and goes out when the channel is active")
    func asks() throws {
        let tunnel = try Tunnel(connected: false)
        #expect(try tunnel.sent() == nil)
        try tunnel.connect()
        #expect(try tunnel.sent() == "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
        #expect(try tunnel.sent() == nil)
        let address = try Tunnel {
            $0.host = "::1"
            $0.credentials = ("Aladdin", "open sesame")
        }
        #expect(
            try address.sent() == "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n"
                + "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"
        )
    }

    @Test("What could smuggle a header is refused, without repeating it")
    func refusesSmuggling() throws {
        #expect(try Tunnel { $0.host = "a\r\nX: y" }.error == .invalidRequest("host"))
        #expect(try Tunnel { $0.host = "" }.error == .invalidRequest("host"))
        for credentials in [("a:b", "c"), ("a\r\n", "b"), ("a", "\u{7f}")] {
            let tunnel = try Tunnel { $0.credentials = credentials }
            #expect(tunnel.error == .invalidRequest("credentials"))
            #expect(try tunnel.sent() == nil)
        }
    }

    @Test("Any 2xx opens it at every cut, and then bytes pass both ways as they are", arguments: [200, 204, 299])
    func opens(status: Int) throws {
        let wire = Array("HTTP/1.0 \(status) Fine\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for pieces in cuts(of: wire) {
            let tunnel = try Tunnel()
            _ = try tunnel.sent()
            for piece in pieces where !piece.isEmpty { try tunnel.receive(piece) }
            #expect(tunnel.isOpen)
            try tunnel.receive([1, 2, 3])
            #expect(try tunnel.channel.readInbound(as: ByteBuffer.self) == ByteBuffer(bytes: [1, 2, 3]))
            try tunnel.channel.writeOutbound(ByteBuffer(bytes: [4]))
            #expect(try tunnel.channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [4]))
            tunnel.channel.embeddedEventLoop.advanceTime(by: .seconds(11))
            #expect(tunnel.channel.isActive)
        }
    }

    @Test("Informational answers are passed over, but not without end")
    func informational() throws {
        var tunnel = try Tunnel()
        try tunnel.receive(Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8))
        #expect(tunnel.isOpen)
        tunnel = try Tunnel()
        try tunnel.receive(Array(String(repeating: "HTTP/1.1 100 \r\n\r\n", count: 100_000).utf8))
        #expect(tunnel.error == .invalidResponse("too many informational answers"))
    }

    @Test("A refusal gives its status, headers and body at every cut, and no byte goes further")
    func refusal() throws {
        let wire = Array("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 4\r\n\r\nnope".utf8)
        for pieces in cuts(of: wire) {
            let tunnel = try Tunnel()
            for piece in pieces { try tunnel.receive(piece) }
            let headers: HTTPHeaders = ["Proxy-Authenticate": "Basic", "Content-Length": "4"]
            #expect(
                tunnel.error == .refused(status: .proxyAuthenticationRequired, headers: headers, body: "nope")
            )
            #expect(!tunnel.channel.isActive)
            #expect(try tunnel.channel.readInbound(as: ByteBuffer.self) == nil)
        }
    }

    @Test("A refusal whose body never comes is told at the time limit, or at the end")
    func cutRefusal() throws {
        let wire = Array("HTTP/1.1 503 Busy\r\nContent-Length: 40\r\n\r\nso".utf8)
        let refused = WebSocketUpgradeError.refused(
            status: .serviceUnavailable,
            headers: ["Content-Length": "40"],
            body: "so"
        )
        var tunnel = try Tunnel()
        try tunnel.receive(wire)
        tunnel.channel.pipeline.fireChannelInactive()
        #expect(tunnel.error == refused)
        tunnel = try Tunnel()
        try tunnel.receive(wire)
        tunnel.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(tunnel.error == refused)
    }

    @Test("Silence, a trickle, too much, nonsense, an early end and what follows the 200 unasked end it")
    func ends() throws {
        var tunnel = try Tunnel()
        tunnel.channel.embeddedEventLoop.advanceTime(by: .milliseconds(9_999))
        #expect(tunnel.result == nil)
        tunnel.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(tunnel.error == .timedOut)
        tunnel = try Tunnel()
        try tunnel.receive(Array("HTTP/1.1 200 OK\r\n".utf8))
        tunnel.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(tunnel.error == .unfinished)
        tunnel = try Tunnel { $0.maximumHeaderBytes = 100 }
        try tunnel.receive(Array(repeating: 0x61, count: 101))
        #expect(tunnel.error == .headersTooLarge)
        tunnel = try Tunnel()
        try tunnel.receive(Array("<html>\r\n\r\n".utf8))
        #expect(tunnel.error == .invalidResponse("malformed status line"))
        tunnel = try Tunnel()
        tunnel.channel.pipeline.fireChannelInactive()
        #expect(tunnel.error == .connectionClosed)
        tunnel = try Tunnel()
        try tunnel.receive(Array("HTTP/1.1 200 OK\r\n\r\n<html>".utf8))
        #expect(tunnel.error == .invalidResponse("it says 200, then sends unexpected bytes"))
        tunnel = try Tunnel()
        tunnel.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        guard case .failure(ChannelError.inputClosed) = tunnel.result else {
            Issue.record("lost")
            return
        }
    }

    @Test("Neither the description nor a dump of a request shows its credentials")
    func hidesSecrets() {
        var request = TunnelRequest(host: "example.org", port: 443)
        request.credentials = ("us3r", "s3cr3t")
        var dumped = ""
        dump(request, to: &dumped)
        for text in [dumped, "\(request)", String(reflecting: request)] {
            #expect(!text.contains("s3cr3t") && !text.contains("us3r"))
        }
    }
}
