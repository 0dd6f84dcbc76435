import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting

@testable import Sinks

@Suite("Requests right behind one another", .timeLimit(.minutes(2 * Patience.factor)))
struct PipelinedRequestTests {
    private static let live = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("a WebSocket that is asked for behind a request hears its client")
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

    @Test("a WebSocket whose client ended its side behind the request is ended")
    func upgradesBehindEnd() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            try await client.channel.writeAndFlush(ByteBuffer(string: Self.live + RawClient.upgrade("/v1/stream")))
            try await client.channel.close(mode: .output)
            try await client.ended()
        }
    }

    @Test("requests before the end of a client's side are answered all")
    func answersBeforeEnd() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            try await client.channel.writeAndFlush(ByteBuffer(string: String(repeating: Self.live, count: 5)))
            try await client.channel.close(mode: .output)
            let answers = try await client.rest().split(separator: "HTTP/1.1 ")
            #expect(answers.map { $0.prefix(3) } == Array(repeating: "200", count: 5))
        }
    }

    @Test("so are those that come while an answer is unread, and the last answer says that it is the last")
    func answersBehindUnread() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            fixture.feed((1...3_000).map { Frames.trade(Frames.btc, "\($0)") })
            let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
            try await client.read(false)
            let trades = "GET /v1/trades/\(Frames.btc)?limit=3000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await client.channel.writeAndFlush(ByteBuffer(string: trades + Self.live))
            while try await fixture.waitingBytes() == 0 {}
            // The last one is cut, and nobody waits for its rest.
            try await client.channel.writeAndFlush(ByteBuffer(string: Self.live + Self.live.prefix(20)))
            try await client.channel.close(mode: .output)
            try await client.read(true)
            let answers = try await client.rest().split(separator: "HTTP/1.1 ")
            #expect(answers.map { $0.prefix(3) } == ["200", "200", "200"])
            #expect(answers.map { $0.lowercased().contains("connection: close") } == [false, false, true])
            #expect(answers.dropFirst().allSatisfy { $0.hasSuffix("ok\n") })
        }
    }

    @Test("of a flood at the end of a client's side few requests are kept, all of them whole")
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
        // And half a request is not waited for.
        let other = try AnswerBench(asks: false)
        other.handler.state = .answering
        try other.channel.writeInbound(HTTPServerRequestPart.head(head))
        other.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(other.handler.waiting.isEmpty)
    }
}
