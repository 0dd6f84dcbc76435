import Logging
import Market
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TickertapeTesting
@testable import Measurements
@testable import HTTP
@testable import Relay

/// A connection whose peer takes bytes only when the test lets it.
struct AnswerBench {
    let channel = EmbeddedChannel()
    let refusals = Calls()
    let gate = SocketGate()
    let handler: HTTPServerConnection

    /// The head of a request that is refused at once.
    static let refused = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "evil.example"])

    /// A router without data.
    static var router: RelayRouter {
        RelayRouter(
            sources: RelayRouter.Sources(
                reading: { throw HTTPRefusal.failed },
                snapshot: { _ in throw HTTPRefusal.failed },
                symbolSnapshot: { _ in throw HTTPRefusal.failed },
                trades: { _, _, _ in throw HTTPRefusal.failed },
                bars: { _, _, _ in throw HTTPRefusal.failed },
                past: nil,
                holdings: ByteBuffer(),
                instruments: Instruments(),
                version: "",
                replay: nil,
                webSocketPaths: []
            ),
            logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    /// - Parameter asks: whether the peer has sent a request that is refused.
    init(asks: Bool = true) throws {
        self.gate.isOpen = false
        var limits = HTTPServerLimits()
        limits.stallTimeout = .seconds(8)
        limits.requestTimeout = .seconds(2)
        let refusals = self.refusals
        let service = RelayHTTPService(
            limits: limits,
            answers: AnswerMemory(),
            gate: { RequestGate(boundAddress: "127.0.0.1", allowedOrigins: []) },
            router: Self.router,
            protocols: .builtIn(RelaySettings()),
            refused: { refusals.add($0) },
            admitClient: { .tooManyClients },
            makeSession: { _, _ throws(HTTPRefusal) in throw HTTPRefusal.failed }
        )
        self.handler = HTTPServerConnection(service)
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try self.channel.pipeline.syncOperations.addHandlers([
            self.gate, HTTPResponseEncoder(), self.handler,
        ])
        guard asks else { return }
        try self.channel.writeInbound(HTTPServerRequestPart.head(Self.refused))
        try self.channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    /// Adds the handler that passes on input in portions, as in a relay.
    func addPortions() throws -> InputPortions {
        let portions = InputPortions()
        try self.channel.pipeline.syncOperations.addHandler(portions, position: .after(self.gate))
        return portions
    }

    /// Answers a request as the router does.
    func answer(_ body: String) throws {
        self.handler.stopTimer()
        self.handler.state = .answering
        let context = try self.channel.pipeline.syncOperations.context(handler: self.handler)
        self.handler.send(HTTPAnswer(headers: [:], body: ByteBuffer(string: body)), context: context)
    }

    /// Lets the peer take all waiting bytes.
    func take() {
        self.gate.isOpen = true
        self.channel.flush()
    }

    func text() throws -> String {
        var text = ""
        while let part = try self.channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
        return text
    }
}

extension RelayFixture {
    /// A request with an answer of more than 200 KB, the last one of its connection.
    static let lastTrades = RelayFixture.trades("Connection: close\r\n")

    /// Returns a request with an answer of more than 200 KB.
    static func trades(_ headers: String = "") -> String {
        "GET /v1/trades/\(Frames.btc)?limit=3000 HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    }

    /// Runs the body with a client that has requested 3,000 trades and reads nothing, so that a part of the answer
    /// waits in the relay. No client is closed for its slowness.
    static func runUnread(
        _ requests: String,
        body: (RelayFixture, RawClient) async throws -> Void
    ) async throws {
        try await Self.run {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            fixture.feed((1...3_000).map { Frames.trade(Frames.btc, "\($0)") })
            let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
            try await client.read(false)
            try await client.channel.writeAndFlush(ByteBuffer(string: requests))
            // The suite's time limit bounds this loop.
            while try await fixture.waitingBytes() == 0 { try Task.checkCancellation() }
            try await body(fixture, client)
        }
    }
}
