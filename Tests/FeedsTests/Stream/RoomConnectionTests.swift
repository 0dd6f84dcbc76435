import Logging
import Market
import NIOCore
import NIOHTTP1
import NIOPosix
import TLS
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("A client of a room", .timeLimit(.minutes(2 * Patience.factor)))
struct RoomConnectionTests {
    private static let room = #"{"type":"room","room":"A:B","users":[],"messages":[]}"#

    /// A connection with its events, in order.
    private struct Bench {
        let connection: NIOLoopBound<RoomConnection>
        let loop: any EventLoop
        var events: AsyncStream<RoomConnection.Event>.Iterator

        init(token: String? = nil, _ relay: @escaping @Sendable () -> UpstreamAddress?) async throws {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let (events, news) = AsyncStream.makeStream(of: RoomConnection.Event.self)
            var settings = RoomConnection.Settings(relay: relay)
            settings.backoff.first = 1_000_000
            settings.backoff.floor = 0
            settings.token = token.map { Secret($0) }
            let chosen = settings
            self.loop = loop
            self.events = events.makeAsyncIterator()
            self.connection = try await loop.submit {
                let connection = RoomConnection(
                    "A:B",
                    chosen,
                    loop: loop,
                    logger: Logger(label: "room") { _ in SwiftLogNoOpLogHandler() },
                    wallClock: { 0 },
                    chance: { 1 }
                ) { news.yield($0) }
                connection.start()
                return NIOLoopBound(connection, eventLoop: loop)
            }.get()
        }

        mutating func nextAfterGreeting() async -> RoomConnection.Event? {
            var event = await self.events.next()
            while case .update(.room)? = event { event = await self.events.next() }
            return event
        }

        func submit(_ request: RoomRequest) {
            let connection = self.connection
            self.loop.execute { connection.value.submit(request) }
        }

        func stop() async throws {
            let connection = self.connection
            try await self.loop.flatSubmit {
                connection.value.stop()
                return connection.value.finished
            }.get()
        }
    }

    private static func address(_ port: Int, path: String = "/") -> UpstreamAddress {
        UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: port, path: path)
    }

    @Test("it enters the room beside the stream, submits, and comes back after a break until it is stopped")
    func comesBack() async throws {
        let relay = try await ScriptedFinnhub.start { _ in .play([]) }
        var bench = try await Bench { Self.address(relay.port, path: "/x/v1/stream") }
        var events = relay.events.makeAsyncIterator()
        #expect(await events.next() == .opened(connection: 0, target: "/x/v1/room/A%3AB"))
        // Nothing is sent before the upgrade, so it is repeated.
        let greeting = Task {
            while !Task.isCancelled {
                relay.send(#"{"type":"unknown"}"#, on: 0)
                relay.send(Self.room, on: 0)
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(await bench.events.next() == .update(.room(users: [], messages: [])))
        greeting.cancel()
        _ = await greeting.result
        bench.submit(.name("ann"))
        #expect(await events.next() == .received(connection: 0, text: #"{"user":"ann"}"#))
        relay.send(#"{"type":"error","msg":"no","code":"bad-user"}"#, on: 0)
        #expect(await bench.nextAfterGreeting() == .update(.error("no", code: "bad-user")))
        relay.drop(0)
        guard case .lost(let reason)? = await bench.nextAfterGreeting() else {
            Issue.record("the loss is not reported")
            return
        }
        #expect(reason.contains("lost"), "\(reason)")
        while let event = await events.next() {
            if event == .opened(connection: 1, target: "/x/v1/room/A%3AB") { break }
        }
        try await bench.stop()
        try await relay.stop()
    }

    @Test(
        "a refusal is a reason in words, and the next attempt follows",
        arguments: [
            (404, #"{"type":"not-found","message":"there is nothing here","cure":"x"}"#, "relay.rooms: true"),
            (401, #"{"type":"token-missing","message":"m","cure":"c"}"#, "requires its token"),
            (403, #"{"type":"host","message":"this Host is not served","cure":"c"}"#, "this Host is not served"),
        ]
    )
    func refusals(status: Int, body: String, words: String) async throws {
        let relay = try await ScriptedFinnhub.start { _ in
            .refuse(status: .init(statusCode: status), headers: ["Content-Type": "application/json"], body: body)
        }
        var bench = try await Bench { Self.address(relay.port) }
        for _ in 0..<3 {
            guard case .lost(let reason)? = await bench.events.next() else {
                Issue.record("no reason")
                break
            }
            #expect(reason.contains(words), "\(reason)")
        }
        try await bench.stop()
        try await relay.stop()
    }

    @Test("a reason is without the relay's token, which a wrong server may repeat")
    func redacted() async throws {
        let token = "averysecrettoken0123456789abcdef"
        let relay = try await ScriptedFinnhub.start { _ in
            .refuse(
                status: .forbidden,
                headers: ["Content-Type": "application/json"],
                body: #"{"type":"host","message":"no Bearer \#(token) here","cure":"c"}"#
            )
        }
        var bench = try await Bench(token: token) { Self.address(relay.port) }
        guard case .lost(let reason)? = await bench.events.next() else {
            Issue.record("no reason")
            return
        }
        #expect(reason.contains("no Bearer ") && !reason.contains(token.prefix(8)), "\(reason)")
        try await bench.stop()
        try await relay.stop()
    }

    @Test("the attempts at one address share a connector, with its trust files, until the relay is elsewhere")
    func connectors() {
        let connector = RoomConnector(room: "A:B", settings: .init { nil }, wallClock: { 0 })
        let first = connector.connector(to: Self.address(1))
        #expect(connector.connector(to: Self.address(1)) === first)
        let second = connector.connector(to: Self.address(2))
        #expect(second !== first && connector.connector(to: Self.address(2)) === second)
    }

    @Test("without a relay it waits for one")
    func nowhere() async throws {
        var bench = try await Bench { nil }
        #expect(await bench.events.next() == .lost("the relay is not open"))
        #expect(await bench.events.next() == .lost("the relay is not open"))
        try await bench.stop()
        var other = try await Bench { Self.address(1, path: "/other") }
        guard case .lost(let reason)? = await other.events.next() else {
            Issue.record("no reason")
            return
        }
        #expect(reason.contains("is not /v1/stream"), "\(reason)")
        try await other.stop()
    }
}
