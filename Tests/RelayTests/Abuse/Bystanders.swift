import NIOConcurrencyHelpers
import NIOCore
import Testing
import TickertapeTesting

/// Ten well-behaved clients that must not be disturbed, whatever other clients do.
struct Bystanders {
    /// The symbol that only they subscribe to.
    static let symbol = "CALM:CALM"
    private static let count = 10
    /// The fewest trades that they get, however short the abuse is.
    private static let minimumTrades = 50

    private let fixture: RelayFixture
    private let clients: [RawClient]

    private init(_ fixture: RelayFixture, clients: [RawClient]) {
        self.fixture = fixture
        self.clients = clients
    }

    /// Runs the abuse while trades flow; each bystander must get every trade, in order, and stay connected.
    ///
    /// Each trade is fed when all of them have got the previous one, so the abuse can interfere at any time in between.
    ///
    /// - Parameters:
    ///   - path: the path that they open, with their token if one is needed.
    ///   - below: makes the handlers between their sockets and them, for TLS.
    static func watch(
        _ fixture: RelayFixture,
        path: String = "/?token=any",
        below: @escaping @Sendable () -> [any ChannelHandler] = { [] },
        during abuse: () async throws -> Void
    ) async throws {
        var clients: [RawClient] = []
        for _ in 0..<Self.count {
            let client = try await RawClient.open(path, at: fixture.address, below: below)
            try await client.subscribe(Self.symbol)
            try await fixture.settleAnswered(client)
            clients.append(client)
        }
        let bystanders = Bystanders(fixture, clients: clients)
        let isOver = NIOLockedValueBox(false)
        let watching = Task { try await bystanders.takeTrades { isOver.withLockedValue { $0 } } }
        defer { isOver.withLockedValue { $0 = true } }
        try await abuse()
        isOver.withLockedValue { $0 = true }
        let trades = try await watching.value
        #expect(trades >= Self.minimumTrades)
        // Only their one symbol was subscribed upstream for them, and they are all still connected.
        #expect(fixture.calls.all.filter { $0 == Self.symbol }.count == 1)
        #expect(!fixture.calls.all.contains("-\(Self.symbol)"))
        for client in clients { try await client.close() }
    }

    private func takeTrades(until isOver: @Sendable () -> Bool) async throws -> Int {
        var number = 0
        repeat {
            number += 1
            let trade = Frames.trade(Self.symbol, "\(number)", time: number)
            self.fixture.feed(trade)
            for client in self.clients {
                let text = try await client.frameAnsweringPings().text
                try #require(text == trade, "instead of trade \(number)")
            }
        } while number < Self.minimumTrades || !isOver()
        return number
    }
}
