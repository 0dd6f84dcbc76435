import Logging
import NIOCore
import TLS
import Testing
import TickertapeTesting
@testable import Measurements
@testable import HTTP
@testable import Relay

/// Refused clients that continue to send, while ten other clients are not disturbed.
@Suite("Abuse of refusals", .timeLimit(.minutes(3 * Patience.factor)))
struct AbuseRefusalTests {
    private typealias Handlers = @Sendable () -> [any ChannelHandler]
    private typealias Place = (name: String, address: SocketAddress, below: Handlers)

    private static let megabyte = String(repeating: "x", count: 1 << 20)

    /// Runs the body for a plain relay, and for one with TLS and a Unix socket. The body gets the listening addresses.
    private static func everywhere(
        _ change: (inout RelaySettings) -> Void = { _ in },
        body: (RelayFixture, _ places: [Place], @escaping Handlers) async throws -> Void
    ) async throws {
        try await RelayFixture.run(change) { fixture in
            try await body(fixture, [("TCP", fixture.address, { [] })], { [] })
        }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/relay.sock"
        let file = try SocketAddress(unixDomainSocketPath: path)
        try await RelayFixture.run(isEncrypted: true) {
            change(&$0)
            $0.unixSocket = path
        } body: { fixture, below in
            try await body(fixture, [("TLS", fixture.address, below), ("a socket file", file, { [] })], below)
        }
    }

    /// Sends a whole text; returns the status and the type of the refusal, which must be one whole line.
    private func refusal(
        of text: String,
        at place: Place
    ) async throws -> String {
        let client = try await RawClient.connect(to: place.address, sendsBehindEnd: true, below: place.below)
        // The first byte leaves after the TLS handshake, during which the client has to read.
        try await client.channel.writeAndFlush(ByteBuffer(string: String(text.prefix(1))))
        try await client.read(false)
        // All bytes are taken; a reset connection fails here.
        try await client.channel.writeAndFlush(ByteBuffer(string: String(text.dropFirst())))
        try await client.read(true)
        let answer = try await client.rest()
        try? await client.close()
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
        let (head, body) = (try #require(parts.first), try #require(parts.last))
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        #expect(length == "content-length: \(body.utf8.count)" && body.hasSuffix("}\n"), "\(place.name): \(answer)")
        return "\(head.dropFirst("HTTP/1.1 ".count).prefix(3)) \(body.dropFirst(9).prefix { $0 != "\"" })"
    }

    @Test("a request that is far too long gets its whole refusal, though the client continues to send")
    func longRequests() async throws {
        try await Self.everywhere { fixture, places, below in
            try await Bystanders.watch(fixture, below: below) {
                for place in places {
                    for (text, answer) in [
                        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(Self.megabyte)\r\n\r\n", "431 headers-too-large"),
                        ("GET /\(Self.megabyte) HTTP/1.1\r\nHost: localhost\r\n\r\n", "431 headers-too-large"),
                        ("nonsense\r\n\r\n\(Self.megabyte)", "400 malformed-request"),
                        (
                            "POST /v1/replay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n"
                                + Self.megabyte, "413 body-too-large"
                        ),
                    ] {
                        let refusal = try await self.refusal(of: text, at: place)
                        #expect(refusal == answer, "\(place.name): \(text.prefix(20))")
                    }
                }
            }
        }
    }

    @Test("so does a refused handshake, whatever the client has sent after it")
    func longHandshakes() async throws {
        let token = "abcdefghijklmnop"
        try await Self.everywhere {
            // The bystanders use every place.
            $0.maximumClients = 10
            $0.token = Secret(token)
        } body: { fixture, places, below in
            try await Bystanders.watch(fixture, path: "/?token=\(token)", below: below) {
                for place in places {
                    let good = RawClient.upgrade("/?token=\(token)")
                    // Only this user can connect to the file, so it needs no token.
                    let stranger = place.name == "a socket file" ? "503 too-many-clients" : "401 token-missing"
                    for (head, answer) in [
                        (good, "503 too-many-clients"),
                        (RawClient.upgrade("/"), stranger),
                        (good.replacing("Version: 13", with: "Version: 12"), "426 websocket-refused"),
                        (
                            RawClient.upgrade("/", headers: "Origin: https://evil.example\r\n"),
                            "403 origin-not-allowed"
                        ),
                    ] {
                        let refusal = try await self.refusal(of: head + Self.megabyte, at: place)
                        #expect(refusal == answer, "\(place.name)")
                    }
                }
            }
        }
    }

    @Test("a client of plain HTTP on a TLS port gets its whole refusal, too")
    func withoutTLS() async throws {
        try await RelayFixture.run(isEncrypted: true) { fixture, below in
            try await Bystanders.watch(fixture, below: below) {
                let refusal = try await self.refusal(
                    of: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\(Self.megabyte)",
                    at: ("TCP", fixture.address, { [] })
                )
                #expect(refusal == "400 tls-required")
            }
        }
    }

    @Test("clients that drip or flood after their refusal are cut, and have normal places until then")
    func goesOnSending() async throws {
        let instruments = Instruments()
        var isQuick = true
        try await RelayFixture.run(instruments: instruments) {
            $0.maximumClients = 20
            $0.maximumPlainConnections = 10
        } body: { fixture in
            try await Bystanders.watch(fixture) {
                var clients: [RawClient] = []
                let start = ContinuousClock.now
                // Thirty places, ten of them used by the bystanders: five of these connections give way to the newest.
                for index in 0..<25 {
                    let client = try await RawClient.connect(to: fixture.address, sendsBehindEnd: true)
                    clients.append(client)
                    let channel = client.channel
                    let head = try await client.request("nonsense\r\n\r\n")
                    #expect(head.hasPrefix("HTTP/1.1 400 "))
                    guard index < 22 else {
                        channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { task in
                            let bytes = ByteBuffer(repeating: 0x78, count: 16 << 10)
                            channel.writeAndFlush(bytes).whenFailure { _ in task.cancel() }
                        }
                        continue
                    }
                    channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { task in
                        channel.writeAndFlush(ByteBuffer(string: "x")).whenFailure { _ in task.cancel() }
                    }
                }
                // If this took longer, the first connections may have been closed at the end of their lingering.
                isQuick = ContinuousClock.now - start < .seconds(1)  // Lingering.quiet
                // The relay resets them, since unread input is always in its kernel. They do not end by themselves,
                // since they never stop sending.
                for client in clients { try await client.channel.closeFuture.get() }
                let late = try await fixture.tradesClient(Frames.btc)
                try await late.close()
            }
        }
        let displaced = instruments.refusals.all.first { $0.type == "connection-displaced" }?.number ?? 0
        #expect(displaced >= 5 || !isQuick, "\(displaced)")
    }
}
