import HTTP
import Market
import NIOCore
import Testing
import TickertapeTesting
@testable import Relay

@Suite("Lines: the endpoint", .timeLimit(.minutes(5 * Patience.factor)))
struct LineEndpointTests {
    private static func on(_ settings: inout RelaySettings) { settings.lines = Endpoint(host: "127.0.0.1", port: 0) }

    private static func connect(_ fixture: RelayFixture, receiveBuffer: Int? = nil) async throws -> RawClient {
        try await RawClient.connect(to: #require(fixture.relay.linesAddress), receiveBuffer: receiveBuffer)
    }

    @Test("trades reach many clients over sockets, in order, and the last line tells of the stop")
    func trades() async throws {
        try await RelayFixture.run(Self.on) { fixture in
            var clients: [RawClient] = []
            for _ in 0..<5 {
                let client = try await Self.connect(fixture)
                // The answer to the second line shows that the first was taken.
                try await client.sendLines("trades A\r\nnonsense\r\n")
                #expect(try await client.line() == "# unknown command nonsense; send help")
                clients.append(client)
            }
            #expect(fixture.relay.clientCount == 5)
            for number in 1...500 { fixture.feed(Frames.trade("A", "\(number)")) }
            for client in clients {
                for number in 1...500 {
                    let line = try await client.line()
                    try #require(line == "A \(number) 0.02 2024-08-08T23:54:15.342Z")
                }
            }
            await fixture.relay.stop()
            for client in clients { #expect(try await client.rest() == "# the relay is stopping\n") }
        }
    }

    @Test("a reader that stops is told what it missed, and disturbs no other")
    func slow() async throws {
        try await RelayFixture.run {
            Self.on(&$0)
            $0.maximumWaitingBytes = 64 << 10
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .seconds(30) * Patience.factor
        } body: { fixture in
            let frozen = try await Self.connect(fixture, receiveBuffer: 4 << 10)
            try await frozen.sendLines("trades A\nnonsense\n")
            _ = try await frozen.line()
            try await frozen.read(false)
            let other = try await Self.connect(fixture)
            try await other.sendLines("trades A\nnonsense\n")
            _ = try await other.line()
            let count = 6_000
            for number in 1...count {
                fixture.feed(Frames.trade("A", "\(number)"))
                let line = try await other.line()
                try #require(line.hasPrefix("A \(number) "))
            }
            try await frozen.read(true)
            var lines = try await frozen.rest().split(separator: "\n")
            try #require(!lines.isEmpty)
            let last = lines.removeLast()
            #expect(last == "# too slow: \(count - lines.count) trades missed")
            for (index, line) in lines.enumerated() { try #require(line.hasPrefix("A \(index + 1) ")) }
            #expect(lines.count > 100 && lines.count < count)
        }
    }

    @Test("1 MB without a line end is answered and closed, and HTTP is not answered")
    func hostile() async throws {
        try await RelayFixture.run(Self.on) { fixture in
            let endless = try await RawClient.connect(
                to: #require(fixture.relay.linesAddress),
                sendsBehindEnd: true
            )
            try await endless.sendLines(String(repeating: "x", count: 1 << 20))
            #expect(try await endless.rest() == "# line too long\n")
            let page = try await Self.connect(fixture)
            try await page.sendLines("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nprices A\n")
            #expect(try await page.rest() == "")
            #expect(fixture.calls.all == [])
        }
    }

    @Test("the setting off is the default, and the list of protocols lacks lines then")
    func off() async throws {
        try await RelayFixture.run { fixture in #expect(fixture.relay.linesAddress == nil) }
        #expect(!RelayProtocols.builtIn(RelaySettings()).all.contains { $0 == LineClient.self })
    }

    @Test("a port in use is refused with what to change, and the relay's own port is free again")
    func portInUse() async throws {
        try await RelayFixture.run(Self.on) { fixture in
            let place = Endpoint(host: "127.0.0.1", port: try #require(fixture.relay.linesAddress?.port))
            let error = RelayError.cannotListenForLines(place, reason: "address already in use")
            await #expect(throws: error) {
                try await RelayFixture.run {
                    $0.lines = place
                } body: { _ in
                }
            }
            #expect("\(error)".hasSuffix("address already in use; change lines.listen, or set it to off"))
        }
    }

    @Test("an address of other machines without a token is refused in words")
    func needsToken() async throws {
        await #expect(throws: RelayError.linesNeedToken(host: "0.0.0.0")) {
            try await RelayFixture.run {
                $0.lines = Endpoint(host: "0.0.0.0", port: 0)
            } body: { _ in
            }
        }
    }
}
