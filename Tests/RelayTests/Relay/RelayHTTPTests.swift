import NIOCore
import Relay
import Testing
import TickertapeTesting
import Wire

@Suite("HTTP beside the relay", .timeLimit(.minutes(1 * Patience.factor)))
struct RelayHTTPTests {
    private static func get(_ path: String, method: String = "GET", headers: String = "") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
    }

    /// Sends a request; returns the whole response.
    private func ask(_ request: String, _ fixture: RelayFixture) async throws -> (status: String, body: String) {
        let client = try await RawClient.connect(to: fixture.address)
        let head = try await client.request(request)
        let body = try await client.rest()
        return (String(head.prefix { $0 != "\r\n" }.dropFirst("HTTP/1.1 ".count)), body)
    }

    @Test("it reports that it lives, and the newest prices")
    func answers() async throws {
        try await RelayFixture.run { fixture in
            fixture.feed(Frames.trade(Frames.btc, "61837.63"), Frames.trade(Frames.eth, "2530"))
            let alive = try await self.ask(Self.get("/livez"), fixture)
            #expect(alive.status == "200 OK" && alive.body == "ok\n")
            let snapshot = try await self.ask(Self.get("/v1/snapshot"), fixture)
            #expect(snapshot.status == "200 OK")
            #expect(
                snapshot.body
                    == #"{"status":{"type":"status","state":"live","since":1723161255342,"reason":null,"source":"live","file":null,"speed":null,"certificateChecked":true,"cause":null},"symbols":[{"type":"snapshot","symbol":"BINANCE:BTCUSDT","price":"61837.63","size":"0.02","time":1723161255342,"received":1723161255342123,"seq":1,"skipped":0,"open":"61837.63","high":"61837.63","low":"61837.63","volume":"0.02","trades":1},{"type":"snapshot","symbol":"BINANCE:ETHUSDT","price":"2530","size":"0.02","time":1723161255342,"received":1723161255342123,"seq":2,"skipped":0,"open":"2530","high":"2530","low":"2530","volume":"0.02","trades":1}]}"#
                    + "\n"
            )
            let head = try await self.ask(Self.get("/livez", method: "HEAD"), fixture)
            #expect(head.status == "200 OK" && head.body.isEmpty)
        }
    }

    @Test("several requests on one connection are answered in order, however they arrive")
    func pipelines() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            let request = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n"
            for part in [request + request + request.prefix(9), request.dropFirst(9) + request + Self.get("/nope")] {
                try await client.channel.writeAndFlush(ByteBuffer(string: String(part)))
            }
            let all = try await client.rest()
            #expect(
                all.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) } == ["200", "200", "200", "200", "404"]
            )
        }
    }

    @Test(
        "a refused request gets a status and one line of JSON",
        arguments: [
            Refused("an unknown path", Self.get("/nope"), 404, "not-found"),
            Refused(
                "a method that is not offered",
                Self.get("/livez", method: "POST", headers: "Content-Length: 0\r\n"),
                405,
                "method-not-allowed"
            ),
            Refused("another one", Self.get("/v1/snapshot", method: "DELETE"), 405, "method-not-allowed"),
            Refused(
                "a WebSocket to / without its Upgrade",
                RawClient.upgrade("/").replacing("Upgrade: websocket\r\n", with: ""),
                426,
                "websocket-refused"
            ),
            Refused("plain HTTP at the stream", Self.get("/v1/stream"), 426, "websocket-refused"),
            Refused("a WebSocket to elsewhere", RawClient.upgrade("/v1/other"), 404, "not-found"),
            Refused(
                "an old WebSocket",
                RawClient.upgrade("/").replacing("Version: 13", with: "Version: 8"),
                426,
                "websocket-refused"
            ),
            Refused("a wrong key", RawClient.upgrade("/").replacing("dGhl", with: "!"), 400, "websocket-refused"),
            Refused("a foreign Host", RawClient.upgrade("/", host: "evil.example"), 421, "host-not-allowed"),
            Refused(
                "a Host that begins like ours",
                RawClient.upgrade("/", host: "127.0.0.1.evil.example:80"),
                421,
                "host-not-allowed"
            ),
            Refused("no Host", "GET / HTTP/1.1\r\n\r\n", 400, "host-missing"),
            Refused(
                "a foreign Origin",
                RawClient.upgrade("/", headers: "Origin: https://evil.example\r\n"),
                403,
                "origin-not-allowed"
            ),
            Refused("a hidden Origin", RawClient.upgrade("/", headers: "Origin: null\r\n"), 403, "origin-not-allowed"),
            Refused(
                "an Origin that begins like ours",
                Self.get("/v1/snapshot", headers: "Origin: http://localhost.evil.example\r\n"),
                403,
                "origin-not-allowed"
            ),
            Refused("nonsense", "nonsense\r\n\r\n", 400, "malformed-request"),
            Refused(
                "a very long path",
                Self.get("/" + String(repeating: "x", count: 9_000)),
                431,
                "headers-too-large"
            ),
            Refused(
                "a very long header",
                Self.get("/livez", headers: "X: \(String(repeating: "x", count: 9_000))\r\n"),
                431,
                "headers-too-large"
            ),
            Refused(
                "a very large body",
                Self.get("/livez", method: "POST", headers: "Content-Length: 70000\r\n")
                    + String(repeating: "x", count: 70_000),
                413,
                "body-too-large"
            ),
        ]
    )
    func refuses(refused: Refused) async throws {
        try await RelayFixture.run { fixture in
            let answer = try await self.ask(refused.request, fixture)
            #expect(answer.status.hasPrefix("\(refused.status) "))
            #expect(answer.body.hasPrefix(#"{"type":"\#(refused.type)","message":""#) && answer.body.hasSuffix("\"}\n"))
            #expect(answer.body.filter { $0 == "\n" }.count == 1)
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var request: String
        var status: Int
        var type: String

        init(_ name: String, _ request: String, _ status: Int, _ type: String) {
            (self.testDescription, self.request, self.status, self.type) = (name, request, status, type)
        }
    }

    @Test(
        "a page of this machine, or of an allowed origin, may connect",
        arguments: ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443", "HTTPS://Trader.Example"]
    )
    func allowsOrigins(origin: String) async throws {
        try await RelayFixture.run {
            $0.allowedOrigins = ["https://trader.example"]
        } body: { fixture in
            let client = try await RawClient.open("/", at: fixture.address, headers: "Origin: \(origin)\r\n")
            try await fixture.settle(client)
        }
    }

    @Test("frames right after the request are read, and a client may send them in pieces")
    func takesEarlyFrames() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            var bytes = ByteBuffer(string: RawClient.upgrade("/"))
            bytes.writeImmutableBuffer(RawClient.masked(opcode: 1, "?"))
            for byte in bytes.readableBytesView { try await client.channel.writeAndFlush(ByteBuffer(bytes: [byte])) }
            let head = try await client.head()
            // This identifies a relay to other programs.
            #expect(head.hasPrefix("HTTP/1.1 101 ") && head.contains("\r\nServer: tickertape\r\n"))
            #expect(try await client.frame().text == #"{"msg":"Invalid message","type":"error"}"#)

            let quick = try await RawClient.connect(to: fixture.address)
            try await quick.channel.writeAndFlush(bytes)
            #expect(try await quick.head().hasPrefix("HTTP/1.1 101 "))
            #expect(try await quick.frame().text == #"{"msg":"Invalid message","type":"error"}"#)
        }
    }

    @Test("a client that does not finish a request in time gets a refusal")
    func timesOut() async throws {
        try await RelayFixture.run {
            $0.handshakeTimeout = .seconds(1)
        } body: { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            // On a busy machine its time may be over before it has sent anything.
            try? await client.channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: loc"))
            #expect(try await client.head().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        }
    }

    @Test("no more clients are accepted than the limit allows, until one leaves")
    func limitsClients() async throws {
        try await RelayFixture.run {
            $0.maximumClients = 2
        } body: { fixture in
            let first = try await fixture.tradesClient()
            let second = try await fixture.streamClient()
            #expect(try await self.ask(RawClient.upgrade("/"), fixture).status == "503 Service Unavailable")
            #expect(try await self.ask(Self.get("/livez"), fixture).status == "200 OK")
            try await first.close()
            while fixture.relay.clientCount > 1 { try await fixture.settle(second) }
            _ = try await fixture.tradesClient()
        }
    }
}
