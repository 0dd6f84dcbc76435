import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting
@testable import HTTP
@testable import Relay

@Suite("Pipelined requests", .timeLimit(.minutes(2 * Patience.factor)))
struct PipelinedRequestTests {
    private static let live = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("a WebSocket requested after another request gets its client's messages")
    func upgradesBehindRequest() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            let head = try await client.request(Self.live + RawClient.upgrade("/v1/stream"))
            #expect(head.hasPrefix("HTTP/1.1 200 "))
            try await client.skip("ok\n".utf8.count)
            #expect(try await client.head().hasPrefix("HTTP/1.1 101 "))
            #expect(try await client.frame().text.hasPrefix(#"{"type":"hello","#))
            try await client.send(#"{"type":"ping"}"#)
            #expect(try await client.frame().text.hasPrefix(#"{"type":"pong","#))
        }
    }

    @Test("a WebSocket whose client ended its side after the request is closed", arguments: [false, true])
    func upgradesBehindEnd(isEncrypted: Bool) async throws {
        try await RelayFixture.run(isEncrypted: isEncrypted) { fixture, below in
            let client = try await RawClient.connect(to: fixture.address, below: below)
            try await client.channel.writeAndFlush(ByteBuffer(string: Self.live + RawClient.upgrade("/v1/stream")))
            try await client.channel.close(mode: .output)
            try await client.ended()
            while fixture.relay.clientCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test("however many requests come at once, all are answered, in their order", arguments: [false, true])
    func answersAll(isEncrypted: Bool) async throws {
        try await RelayFixture.run(isEncrypted: isEncrypted) { fixture, below in
            let client = try await RawClient.connect(to: fixture.address, below: below)
            // Some hundreds of requests in one record.
            let requests = (0..<1_000).map { "GET /v1/trades/S\($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }
            try await client.channel.writeAndFlush(
                ByteBuffer(string: requests.joined() + RawClient.upgrade("/v1/stream"))
            )
            for number in 0..<1_000 {
                let head = try await client.head()
                try #require(head.hasPrefix("HTTP/1.1 404 "), "answer \(number): \(head)")
                let body = try await client.text(of: head)
                try #require(body.contains("S\(number) ") || body.contains("S\(number)\""), "answer \(number): \(body)")
            }
            #expect(try await client.head().hasPrefix("HTTP/1.1 101 "))
            #expect(try await client.frame().text.hasPrefix(#"{"type":"hello","#))
        }
    }

    @Test("requests before the end of a client's side are all answered", arguments: [false, true], [5, 1_000])
    func answersBeforeEnd(isEncrypted: Bool, requests: Int) async throws {
        try await RelayFixture.run(isEncrypted: isEncrypted) { fixture, below in
            let client = try await RawClient.connect(to: fixture.address, below: below)
            let text = String(repeating: Self.live, count: requests)
            try await client.channel.writeAndFlush(ByteBuffer(string: text))
            try await client.channel.close(mode: .output)
            let answers = try await client.rest().split(separator: "HTTP/1.1 ")
            #expect(answers.count { $0.hasPrefix("200 ") } == requests)
            #expect(answers.count == requests)
        }
    }

    @Test("so are those that come while an answer is unread, and the last answer is marked as the last")
    func answersBehindUnread() async throws {
        try await RelayFixture.runUnread(RelayFixture.trades() + Self.live) { _, client in
            // The last request is cut off, and the relay does not wait for its rest.
            try await client.channel.writeAndFlush(ByteBuffer(string: Self.live + Self.live.prefix(20)))
            try await client.channel.close(mode: .output)
            try await client.read(true)
            let answers = try await client.rest().split(separator: "HTTP/1.1 ")
            #expect(answers.map { $0.prefix(3) } == ["200", "200", "200"])
            #expect(answers.map { $0.lowercased().contains("connection: close") } == [false, false, true])
            #expect(answers.dropFirst().allSatisfy { $0.hasSuffix("ok\n") })
        }
    }

    @Test("a flood at the end of a client's side leaves few requests queued, all of them whole")
    func boundsFlood() throws {
        let bench = try AnswerBench(asks: false)
        bench.handler.state = .answering
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: ["Host": "localhost"])
        for _ in 0..<2_000 {
            for part: HTTPServerRequestPart in [.head(head), .body(ByteBuffer(string: "body")), .end(nil)] {
                try bench.channel.writeInbound(part)
            }
        }
        let kept = Array(bench.handler.waiting)
        #expect(kept.count == 126)
        #expect(kept.last == .end(nil))
        // The relay does not wait for the rest of half a request, either.
        let other = try AnswerBench(asks: false)
        other.handler.state = .answering
        try other.channel.writeInbound(HTTPServerRequestPart.head(head))
        other.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(other.handler.waiting.isEmpty)
    }
}
