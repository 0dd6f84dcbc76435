import TLS
import Testing
import TickertapeTesting
@testable import Relay

@Suite("A relay whose rules change while clients are connected", .timeLimit(.minutes(Patience.factor)))
struct ReloadedRelayTests {
    private static let token = "0123456789abcdef"

    private func open(
        _ fixture: RelayFixture,
        token: String = Self.token,
        origin: String? = nil
    ) async throws -> RawClient {
        let headers = origin.map { "Origin: \($0)\r\n" } ?? ""
        return try await RawClient.open("/v1/stream?token=\(token)", at: fixture.address, headers: headers)
    }

    /// Returns the code and the reason with which the relay closes a client.
    private func closure(of client: RawClient) async throws -> String {
        while true {
            if let closure = try await client.frame().closure { return closure }
        }
    }

    @Test("a page of an origin that is no longer allowed is closed with 1008, then every client of an old token")
    func closes() async throws {
        try await RelayFixture.run({ settings in
            settings.token = Secret(Self.token)
            settings.allowedOrigins = ["https://a.example", "https://b.example"]
        }) { fixture in
            let page = try await self.open(fixture, origin: "https://a.example")
            let other = try await self.open(fixture, origin: "https://b.example")
            let program = try await self.open(fixture)
            #expect(await fixture.relay.reload { $0.allowedOrigins = ["https://b.example"] } == 1)
            #expect(try await self.closure(of: page) == "1008 web pages of this origin may not connect")
            await #expect(throws: RawClient.Ended.self) { try await self.open(fixture, origin: "https://a.example") }
            _ = try await self.open(fixture, origin: "https://b.example").close()

            let closed = await fixture.relay.reload { $0.token = Secret("fedcba9876543210") }
            #expect(closed >= 2)
            for client in [other, program] {
                #expect(try await self.closure(of: client) == "1008 the relay's token is another one now")
            }
            await #expect(throws: RawClient.Ended.self) { try await self.open(fixture) }
            let new = try await self.open(fixture, token: "fedcba9876543210")
            // Without a token everybody may stay.
            #expect(await fixture.relay.reload { $0.token = nil } == 0)
            _ = try await self.open(fixture, token: "any")
            try await new.close()
        }
    }

    @Test("a new limit of clients counts from the next client on")
    func limits() async throws {
        try await RelayFixture.run { fixture in
            let first = try await self.open(fixture)
            #expect(await fixture.relay.reload { $0.maximumClients = 1 } == 0)
            await #expect(throws: RawClient.Ended.self) { try await self.open(fixture) }
            #expect(await fixture.relay.reload { $0.maximumClients = 2 } == 0)
            try await self.open(fixture).close()
            try await first.close()
        }
    }
}
