import TLS
import Market
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
@testable import Feeds

@Suite("The bars that a relay holds from before", .timeLimit(.minutes(2 * Patience.factor)))
struct StreamPastTests {
    private static func http(_ status: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func list(_ width: String, start: Int64) -> String {
        let bar = #"{"start":\#(start),"open":"1","high":"3","low":"1","close":"2","trades":4,"incomplete":false}"#
        return Self.http("200 OK", #"{"symbol":"A:B C","width":"\#(width)","bars":[\#(bar)]}"# + "\n")
    }

    private func past(
        _ port: Int,
        path: String = "/",
        token: String? = nil,
        timeout: TimeAmount = .seconds(10)
    ) throws -> StreamPast? {
        var settings = StreamSubscriber.Settings(
            relay: UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: port, path: path),
            symbols: []
        )
        settings.dial.tls = Certificates.client()
        settings.token = token.map { Secret($0) }
        return try StreamPast(settings, on: MultiThreadedEventLoopGroup.singleton, timeout: timeout) { 0 }
    }

    @Test("are requested by the second, the minute and five minutes, beside the stream, with the token if there is one")
    func asks() async throws {
        for (path, base, token) in [("/", "", nil), ("/v1/stream", "", Canary.key), ("/x/v1/stream", "/x", nil)] {
            let server = try await RawServer.start { head in
                if head.contains("width=1s") { return .send(Self.list("1s", start: 61_000)) }
                if head.contains("width=1m") { return .send(Self.list("1m", start: 60_000)) }
                return .send(Self.list("5m", start: 300_000))
            }
            let past = try #require(try self.past(server.port, path: path, token: token))
            let found = try #require(await past.bars(of: "A:B C"))
            #expect(found.map(\.width) == [.second, .minute, .fiveMinutes])
            #expect(found.allSatisfy { $0.symbol == "A:B C" && $0.bars.count == 1 && $0.bars[0].count == 4 })
            let heads = server.heads
            #expect(heads.count == 3)
            for (head, width) in zip(heads, ["1s&limit=3900", "1m&limit=150", "5m&limit=320"]) {
                #expect(head.hasPrefix("GET \(base)/v1/bars/A%3AB%20C?width=\(width) HTTP/1.1\r\n"), "\(head)")
                #expect(head.contains("\r\nAuthorization: Bearer \(token ?? "")\r\n") == (token != nil))
                #expect(!head.contains("X-Finnhub-Token"))
            }
            try await server.stop()
        }
    }

    @Test(
        "are empty if the relay has none, is an old one, or answers anything else",
        arguments: [
            RawServer.Answer.send(Self.http("404 Not Found", #"{"type":"no-such-symbol"}"#)),
            .send(Self.http("401 Unauthorized", "")), .send(Self.http("200 OK", "")),
            .send(Self.http("200 OK", #"{"bars":[]}"#)),
            .sendAndClose("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"bars\":["), .close,
            .send(Self.list("1h", start: 3_600_000)), .send("220 ftp.example.org\r\n"),
            .sendAndClose("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: " ", count: 3 << 20)),
        ]
    )
    func empty(_ answer: RawServer.Answer) async throws {
        let server = try await RawServer.start { _ in answer }
        let past = try #require(try self.past(server.port))
        #expect((await past.bars(of: "A:B") ?? []).isEmpty)
        #expect(!server.heads.isEmpty)
        try await server.stop()
    }

    @Test(
        "are unknown, and can be requested again, if the relay hangs or its connection breaks",
        arguments: [true, false]
    )
    func hangs(isSilent: Bool) async throws {
        let server = try await RawServer.start { _ in isSilent ? .silence : .close }
        let past = try #require(try self.past(server.port, timeout: isSilent ? .milliseconds(200) : .seconds(10)))
        #expect(await past.bars(of: "A:B") == nil)
        #expect(server.heads.count <= 1)
        try await server.stop()
    }

    @Test("count as far as they came before the connection broke")
    func half() async throws {
        let server = try await RawServer.start { head in
            head.contains("width=1s") ? .send(Self.list("1s", start: 61_000)) : .close
        }
        let past = try #require(try self.past(server.port))
        #expect(await past.bars(of: "A:B")?.map(\.width) == [.second])
        try await server.stop()
    }

    @Test("are not requested if the stream has another path")
    func elsewhere() throws {
        #expect(try self.past(1, path: "/prices") == nil)
        #expect(try self.past(1, path: "/v1/stream?x=1") == nil)
    }
}
