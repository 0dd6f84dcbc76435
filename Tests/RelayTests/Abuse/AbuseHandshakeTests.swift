import NIOCore
import Relay
import Testing
import TickertapeTesting
@testable import Measurements

/// Requests that are slow, huge, invalid or foreign, while ten other clients are not disturbed.
@Suite("Abuse before the WebSocket", .timeLimit(.minutes(1 * Patience.factor)))
struct AbuseHandshakeTests {
    /// Sends a request and returns the status and the refusal's type.
    private func refusal(of request: String, _ fixture: RelayFixture) async throws -> String {
        let client = try await RawClient.connect(to: fixture.address)
        let status = try await client.request(request).dropFirst("HTTP/1.1 ".count).prefix(3)
        let body = try await client.rest()
        #expect(body.hasSuffix("}\n") && body.dropLast().allSatisfy { $0 != "\n" }, "\(body)")
        let type = body.dropFirst(#"{"type":""#.count).prefix { $0 != "\"" }
        return "\(status) \(type)"
    }

    @Test("slow requests are ended in time, whether they stop or trickle")
    func slowloris() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.handshakeTimeout = .seconds(1)
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                var clients: [RawClient] = []
                for index in 0..<40 {
                    let client = try await RawClient.connect(to: fixture.address)
                    clients.append(client)
                    let channel = client.channel
                    switch index % 4 {
                    case 0:
                        break  // sends nothing at all
                    case 1:
                        try await channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: localhost\r\n"))
                    case 2:
                        // A body that never arrives.
                        try await channel.writeAndFlush(
                            ByteBuffer(string: "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
                        )
                    default:
                        try await channel.writeAndFlush(ByteBuffer(string: "GET /livez HTTP/1.1\r\nX-Slow: "))
                        channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { task in
                            channel.writeAndFlush(ByteBuffer(string: "x")).whenFailure { _ in task.cancel() }
                        }
                    }
                }
                for client in clients {
                    #expect(try await client.head().hasPrefix("HTTP/1.1 408 "))
                    #expect(try await client.rest().contains(#""type":"request-timeout""#))
                }
            }
        }
        #expect(instruments.refusals.all.first { $0.type == "request-timeout" }?.number == 40)
    }

    @Test("connections without requests shut out no client: the oldest give way")
    func fullHouse() async throws {
        let instruments = Instruments()
        try await RelayFixture.run(instruments: instruments) {
            $0.maximumClients = 20
            $0.maximumPlainConnections = 10
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                var idle: [RawClient] = []
                for _ in 0..<60 { idle.append(try await RawClient.connect(to: fixture.address)) }
                // Thirty places, ten of them used by the bystanders.
                for client in idle.prefix(40) { try await client.ended() }
                let late = try await fixture.tradesClient(Frames.btc)
                try await late.close()
            }
        }
        #expect(instruments.refusals.all.contains { $0.type == "connection-displaced" && $0.number >= 40 })
    }

    @Test("clients beyond the limit are refused, and the connected ones stay")
    func tooManyClients() async throws {
        try await RelayFixture.run {
            $0.maximumClients = 12
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                let more = [try await fixture.tradesClient(Frames.btc), try await fixture.tradesClient(Frames.btc)]
                for _ in 0..<20 {
                    #expect(try await self.refusal(of: RawClient.upgrade("/"), fixture) == "503 too-many-clients")
                }
                try await more[0].close()
                try await more[1].close()
            }
        }
    }

    @Test("huge and endless headers are refused")
    func headers() async throws {
        try await RelayFixture.run { fixture in
            try await Bystanders.watch(fixture) {
                let long = String(repeating: "x", count: 9_000)
                let many = (0..<150).map { "X-\($0): 1\r\n" }.joined()
                for request in [
                    RawClient.upgrade("/\(long)"), RawClient.upgrade("/", headers: "X: \(long)\r\n"),
                    RawClient.upgrade("/", headers: "\(long): x\r\n"), RawClient.upgrade("/", headers: many),
                    "GET /livez HTTP/1.1\r\nCookie: \(String(repeating: long, count: 100))",
                ] {
                    let refusal = try await self.refusal(of: request, fixture)
                    #expect(refusal == "431 headers-too-large")
                }
            }
        }
    }

    @Test("missing and wrong fields of an upgrade are refused, each with its status and one line")
    func upgrades() async throws {
        try await RelayFixture.run { fixture in
            try await Bystanders.watch(fixture) {
                let good = RawClient.upgrade("/")
                for (old, new, answer) in [
                    ("Upgrade: websocket\r\n", "", "426 websocket-refused"),
                    ("Upgrade: websocket", "Upgrade: h2c", "426 websocket-refused"),
                    ("Connection: Upgrade\r\n", "", "400 websocket-refused"),
                    ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", "400 websocket-refused"),
                    ("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", "400 websocket-refused"),
                    ("Version: 13", "Version: 12", "426 websocket-refused"),
                    ("Version: 13", "Version: 13, 12", "426 websocket-refused"),
                    ("Sec-WebSocket-Version: 13\r\n", "", "426 websocket-refused"),
                    ("HTTP/1.1", "HTTP/1.0", "400 websocket-refused"),
                    ("GET ", "POST ", "405 websocket-refused"),
                    ("GET ", "BREW ", "400 malformed-request"),
                    ("GET / ", "GET /other ", "404 not-found"),
                    ("HTTP/1.1", "HTTP/9.9", "400 malformed-request"),
                    ("GET / HTTP/1.1", "\u{16}\u{3}\u{1}", "400 malformed-request"),
                ] {
                    let request = good.replacing(old, with: new)
                    try #require(request != good)
                    let refusal = try await self.refusal(of: request, fixture)
                    #expect(refusal == answer, "\(old) -> \(new)")
                }
            }
        }
    }

    @Test("foreign hosts and origins are refused")
    func foreigners() async throws {
        try await RelayFixture.run { fixture in
            try await Bystanders.watch(fixture) {
                for host in ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", "localhost.", ""] {
                    let refusal = try await self.refusal(of: RawClient.upgrade("/", host: host), fixture)
                    #expect(refusal == "421 host-not-allowed", "\(host)")
                }
                let two = RawClient.upgrade("/", headers: "Host: localhost\r\n")
                #expect(try await self.refusal(of: two, fixture) == "400 host-missing")
                for origin in ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://"] {
                    for path in ["/", "/v1/stream"] {
                        let request = RawClient.upgrade(path, headers: "Origin: \(origin)\r\n")
                        #expect(try await self.refusal(of: request, fixture) == "403 origin-not-allowed", "\(origin)")
                    }
                }
            }
        }
    }
}
