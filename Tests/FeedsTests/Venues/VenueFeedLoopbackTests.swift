import Feeds
import Ingest
import Logging
import Market
import NIOCore
import NIOPosix
import Testing
import TickertapeTesting
import Wire

@Suite("A venue's own feed over sockets", .timeLimit(.minutes(2 * Patience.factor)))
struct VenueFeedLoopbackTests {
    private static func refusal(_ status: String, _ body: String) -> RawServer.Answer {
        .sendAndClose("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test("says in words why neither the venue nor its other address opens a WebSocket, and goes on trying")
    func refused() async throws {
        let first = try await RawServer.start { _ in
            Self.refusal("451 Unavailable", #"{"code":0,"msg":"restricted location"}"#)
        }
        let second = try await RawServer.start { _ in Self.refusal("403 Forbidden", "<html><title>Denied</title>") }
        var settings = VenueSettings(.binance, symbols: ["BINANCE:BTCUSDT"])
        settings.upstream = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: first.port, path: "/stream")
        settings.fallback = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: second.port, path: "/stream")
        settings.service = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: first.port)
        settings.serviceFallback = nil
        settings.backoff.first = 1_000_000
        settings.backoff.limit = 1_000_000
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let log = TapeLog()
        let tape = try await loop.submit { NIOLoopBound(TapeWriter(epoch: 7, readers: [log]), eventLoop: loop) }.get()
        let feed = try await VenueFeed.make(
            settings,
            into: tape,
            loop: loop,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            wallClock: { 1_800_000_000_000_000_000 }
        )
        let run = Task { try await feed.run() }
        #expect(await log.waits { $0.statuses.filter { $0.word == "reconnecting" }.count >= 3 })
        let contents = log.contents
        let reason = contents.statuses.last { $0.word == "reconnecting" }?.reason ?? ""
        #expect(reason.hasPrefix("Binance refuses this location (HTTP 451"))
        #expect(
            reason.contains(
                "; and Binance refuses connections from this network (HTTP 403: a page of HTML, \"Denied\")"
            )
        )
        #expect(contents.statuses.first?.reason == "asking Binance for its list of symbols")
        feed.stop()
        try await run.value
        let heads = second.heads
        #expect(heads.first?.hasPrefix("GET /stream HTTP/1.1\r\n") == true)
        try await first.stop()
        try await second.stop()
    }
}
