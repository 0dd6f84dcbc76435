import Market
import NIOConcurrencyHelpers
import NIOCore
import Relay
import Testing
import TickertapeTesting
import Wire

/// A replay of ten seconds that records its requests and executes some of them.
private final class HandReplay: ReplayControlling {
    private struct State {
        var position = ReplayPosition(start: 0, end: 10_000_000_000, at: 2_500_000_000, speed: 1)
        var requests: [ReplayRequest] = []
        var watchers: [@Sendable (ReplayPosition) -> Void] = []
    }

    private let state = NIOLockedValueBox(State())

    var requests: [ReplayRequest] { self.state.withLockedValue { $0.requests } }

    func position() -> ReplayPosition { self.state.withLockedValue { $0.position } }

    func watch(_ changed: @escaping @Sendable (ReplayPosition) -> Void) {
        self.state.withLockedValue { $0.watchers.append(changed) }
    }

    func request(
        _ request: ReplayRequest,
        answer: @escaping @Sendable (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) {
        let (position, watchers) = self.state.withLockedValue { state in
            state.requests.append(request)
            if request == .pause { state.position.isPaused = true }
            if request == .resume { state.position.isPaused = false }
            return (state.position, state.watchers)
        }
        if request == .seek(.nextGap) { return answer(.failure(ReplayRefusal("no gap here"))) }
        for watcher in watchers { watcher(position) }
        answer(.success(position))
    }
}

@Suite("The control endpoint of a replay", .timeLimit(.minutes(1 * Patience.factor)))
struct ReplayEndpointTests {
    private static let here =
        #""start":0,"end":10000,"at":2500,"percent":25.0,"speed":1.0,"paused":"#

    private func ask(
        _ method: String,
        _ body: String,
        headers: String = "",
        _ fixture: RelayFixture
    ) async throws
        -> (status: String, head: String, body: String)
    {
        let client = try await RawClient.connect(to: fixture.address)
        let head = try await client.request(
            "\(method) /v1/replay HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        return (String(head.dropFirst("HTTP/1.1 ".count).prefix(3)), head, try await client.rest())
    }

    @Test("GET returns the position, POST executes a request, and all clients of the stream get the change")
    func commands() async throws {
        let replay = HandReplay()
        try await RelayFixture.run(replay: replay) {
            $0.replayControl = .on
        } body: { fixture in
            let other = try await RawClient.open("/v1/stream", at: fixture.address)
            #expect(try await other.frame().text.contains(#""replay":{\#(Self.here)false}"#))
            let client = try await fixture.streamClient()
            #expect(try await self.ask("GET", "", fixture).body == "{\"type\":\"replay\",\(Self.here)false}\n")
            let paused = try await self.ask("POST", #"{"request":"pause"}"#, fixture)
            #expect(paused.status == "200" && paused.body == "{\"type\":\"replay\",\(Self.here)true}\n")
            for client in [client, other] {
                #expect(try await client.frame().text.hasSuffix("\(Self.here)true}"))
            }
            try await client.send(#"{"type":"replay","request":"seek","to":"50%"}"#)
            #expect(try await other.frame().text.hasPrefix(#"{"type":"replay","n":"#))
            try await client.send(#"{"type":"replay","request":"seek","to":"next-gap"}"#)
            #expect(try await client.frame().text.hasPrefix(#"{"type":"replay","n":"#))
            #expect(try await client.frame().text.hasSuffix(#""msg":"no gap here","code":"replay-refused"}"#))
            #expect(replay.requests == [.pause, .seek(.percent(50)), .seek(.nextGap)])
            let refused = try await self.ask("POST", #"{"request":"seek","to":"next-gap"}"#, fixture)
            #expect(refused.status == "422" && refused.body.contains(#""message":"no gap here""#))
            for body in ["", "[]", "{\"request\":\"\(String(repeating: "x", count: 40_000))\"}"] {
                #expect(try await self.ask("POST", body, fixture).status == "422")
            }
            let status = try await self.statusBody(fixture)
            #expect(status.contains(#""replay":{\#(Self.here)true}"#))
            // A silence before the pause does not count during it.
            try await fixture.onFeedLoop {
                $0.relay.statusChanged(FeedStatus(source: .replay(file: "f", speed: 1), phase: .stale, since: 0))
            }
            let reported = try await other.frame().text
            #expect(reported.hasPrefix(#"{"type":"status""#) && reported.contains(#""state":"live""#), "\(reported)")
            let held = try await self.statusBody(fixture)
            #expect(held.contains(#""state":"live""#) && !held.contains("stale"), "\(held)")
            let late = try await RawClient.open("/v1/stream", at: fixture.address)
            let hello = try await late.frame().text
            #expect(hello.contains(#""status":{"state":"live""#) && !hello.contains("stale"), "\(hello)")
            // After the pause the feed repeats nothing, and its status applies again.
            #expect(try await self.ask("POST", #"{"request":"resume"}"#, fixture).status == "200")
            for client in [other, late] {
                #expect(try await client.frame().text.contains(#""state":"stale""#))
                #expect(try await client.frame().text.hasSuffix("\(Self.here)false}"))
            }
        }
    }

    private func statusBody(_ fixture: RelayFixture) async throws -> String {
        let client = try await RawClient.connect(to: fixture.address)
        _ = try await client.request("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try await client.rest()
    }

    @Test("with the setting off it is refused with the setting's name, and can still be read")
    func forbidden() async throws {
        let replay = HandReplay()
        try await RelayFixture.run(replay: replay) {
            $0.replayControl = .off
        } body: { fixture in
            let answer = try await self.ask("POST", #"{"request":"pause"}"#, fixture)
            #expect(answer.status == "403" && answer.body.contains("relay.replay-control"))
            #expect(try await self.ask("GET", "", fixture).status == "200")
            let client = try await fixture.streamClient()
            try await client.send(#"{"type":"replay","request":"pause"}"#)
            let reported = try await client.frame().text
            #expect(reported.contains("relay.replay-control") && reported.contains("replay-control-off"))
            #expect(replay.requests.isEmpty)
        }
    }

    @Test("the market is not a replay")
    func live() async throws {
        try await RelayFixture.run {
            $0.replayControl = .on
        } body: { fixture in
            for method in ["GET", "POST"] {
                let answer = try await self.ask(method, #"{"request":"pause"}"#, fixture)
                #expect(answer.status == "409" && answer.body.contains("this is not a replay"))
            }
            let client = try await fixture.streamClient()
            try await client.send(#"{"type":"replay","request":"pause"}"#)
            #expect(try await client.frame().text.hasSuffix(#""msg":"this is not a replay","code":"not-a-replay"}"#))
        }
    }

    @Test("a web page needs an allowed origin, which may ask before it posts")
    func origins() async throws {
        let replay = HandReplay()
        try await RelayFixture.run(replay: replay) {
            $0.replayControl = .on
            $0.allowedOrigins = ["https://example.org"]
        } body: { fixture in
            let foreign = try await self.ask(
                "POST",
                #"{"request":"pause"}"#,
                headers: "Origin: https://evil.org\r\n",
                fixture
            )
            #expect(foreign.status == "403" && replay.requests.isEmpty)
            let before = try await self.ask(
                "OPTIONS",
                "",
                headers: "Origin: https://example.org\r\nAccess-Control-Request-Method: POST\r\n",
                fixture
            )
            #expect(
                before.status == "204" && before.head.contains("GET, HEAD, POST")
                    && before.head.contains("Content-Type")
            )
            let own = try await self.ask(
                "POST",
                #"{"request":"pause"}"#,
                headers: "Origin: https://example.org\r\n",
                fixture
            )
            #expect(own.status == "200" && own.head.contains("https://example.org"))
            let wrong = try await self.ask("DELETE", "", fixture)
            #expect(wrong.status == "405" && wrong.head.contains("GET, HEAD, POST"))
        }
    }
}
