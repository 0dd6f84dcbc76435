import Logging
import Market
import NIOConcurrencyHelpers
import NIOHTTP1
import NIOPosix
import TLS
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("A relay's stream as a feed", .timeLimit(.minutes(2 * Patience.factor)))
struct StreamSubscriberTests {
    private static func hello(_ newest: Int) -> ScriptedFinnhub.Act {
        .send(
            #"{"type":"hello","n":1,"epoch":7,"seq":\#(newest),"status":{"state":"live","since":1,"source":"live"},"symbols":[]}"#
        )
    }

    /// Waits for a request on a connection, and ignores other events.
    private func request(
        _ events: inout AsyncStream<ScriptedFinnhub.Event>.Iterator,
        on connection: Int
    ) async -> String? {
        while let event = await events.next() {
            if case .received(connection, let text) = event { return text }
        }
        return nil
    }

    @Test("subscriptions made while it runs are sent at once, and again with the position on the next connection")
    func wishes() async throws {
        let relay = try await ScriptedFinnhub.start { connection in .play([Self.hello(3 + connection)]) }
        var settings = StreamSubscriber.Settings(
            relay: UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: relay.port),
            symbols: ["A"]
        )
        settings.backoff.first = 1_000_000
        settings.backoff.floor = 0
        let greeted = NIOLockedValueBox(0)
        let feed = try await StreamSubscriber.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "feed") { _ in SwiftLogNoOpLogHandler() },
            wallClock: { 0 }
        ) { event in
            if case .message(.hello) = event { greeted.withLockedValue { $0 += 1 } }
        }
        let running = Task { try await feed.run() }
        var events = relay.events.makeAsyncIterator()
        #expect(await self.request(&events, on: 0) == #"{"type":"subscribe","symbols":["A"]}"#)
        feed.subscribe("B")
        #expect(await self.request(&events, on: 0) == #"{"type":"subscribe","symbols":["B"]}"#)
        feed.unsubscribe("A")
        #expect(await self.request(&events, on: 0) == #"{"type":"unsubscribe","symbols":["A"]}"#)
        while greeted.withLockedValue({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        relay.drop(0)
        #expect(await self.request(&events, on: 1) == #"{"type":"subscribe","symbols":["B"],"since":"7:3"}"#)
        feed.stop()
        try await running.value
        try await relay.stop()
    }

    @Test("a reason is without the relay's token, which a wrong server may repeat")
    func redacted() async throws {
        let token = "averysecrettoken0123456789abcdef"
        let relay = try await ScriptedFinnhub.start { _ in
            .refuse(
                status: .serviceUnavailable,
                headers: ["Content-Type": "application/json"],
                body: #"{"type":"busy","message":"no Bearer \#(token) here","cure":"c"}"#
            )
        }
        var settings = StreamSubscriber.Settings(
            relay: UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: relay.port),
            symbols: ["A"]
        )
        settings.token = Secret(token)
        let (reasons, news) = AsyncStream.makeStream(of: String.self)
        let feed = try await StreamSubscriber.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "feed") { _ in SwiftLogNoOpLogHandler() },
            wallClock: { 0 }
        ) { event in
            if case .lost(let status) = event, let reason = status.reason { news.yield(reason) }
        }
        let running = Task { try await feed.run() }
        var iterator = reasons.makeAsyncIterator()
        let reason = try #require(await iterator.next())
        #expect(reason.contains("no Bearer ") && !reason.contains(token.prefix(8)), "\(reason)")
        feed.stop()
        try await running.value
        try await relay.stop()
    }

    @Test("a new symbol brings the relay's objection, and is not requested again")
    func adopts() async throws {
        let relay = try await ScriptedFinnhub.start { _ in .play([Self.hello(3)]) }
        let settings = StreamSubscriber.Settings(
            relay: UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: relay.port),
            symbols: ["A"]
        )
        let feed = try await StreamSubscriber.make(
            settings: settings,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "feed") { _ in SwiftLogNoOpLogHandler() },
            wallClock: { 0 }
        ) { _ in }
        let running = Task { try await feed.run() }
        var events = relay.events.makeAsyncIterator()
        #expect(await self.request(&events, on: 0) == #"{"type":"subscribe","symbols":["A"]}"#)
        async let problem = feed.retain("X:Y")
        #expect(await self.request(&events, on: 0) == #"{"type":"subscribe","symbols":["X:Y"]}"#)
        #expect(await self.request(&events, on: 0) == #"{"type":"ping"}"#)
        relay.send(#"{"type":"error","n":2,"msg":"Invalid symbol X:Y","code":"no-such-symbol"}"#, on: 0)
        relay.send(#"{"type":"pong","n":3,"time":1}"#, on: 0)
        #expect(await problem == "Invalid symbol X:Y")
        #expect(await self.request(&events, on: 0) == #"{"type":"unsubscribe","symbols":["X:Y"]}"#)
        async let good = feed.retain("X:Z")
        #expect(await self.request(&events, on: 0) == #"{"type":"subscribe","symbols":["X:Z"]}"#)
        #expect(await self.request(&events, on: 0) == #"{"type":"ping"}"#)
        relay.send(#"{"type":"symbol","n":4,"symbol":"X:Z","state":"live","since":1,"reason":null}"#, on: 0)
        #expect(await good == nil)
        // A symbol that the feed has is not requested again.
        #expect(await feed.retain("X:Z") == nil)
        feed.stop()
        try await running.value
        try await relay.stop()
    }
}
