import Logging
import Market
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting

@testable import Sinks

@Suite("Answers over HTTP that are not read, or slowly", .timeLimit(.minutes(2 * Patience.factor)))
struct UnreadAnswerTests {
    private static let page = "GET /page/market.js HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("of however many requests at once only one answer waits, and all are answered when they are read")
    func boundsPipeline() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
        } body: { fixture in
            let requests = 300
            let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
            try await client.read(false)
            let pipeline = ByteBuffer(string: String(repeating: Self.page, count: requests))
            async let sent: Void = client.channel.writeAndFlush(pipeline)
            // Each of these gives the relay's loop turns in which it could answer more.
            var most = 0
            for _ in 0..<100 {
                let waiting = try await fixture.waitingBytes()
                most = max(most, waiting)
            }
            // One answer is the file and its head, 14 KB.
            #expect(most > 0 && most < 20_000, "\(most) bytes waited")
            try await client.read(true)
            try await sent
            for number in 0..<requests {
                let head = try await client.head()
                try #require(head.hasPrefix("HTTP/1.1 200 "), "answer \(number): \(head)")
                try await client.skip(try #require(Self.length(head)))
            }
        }
    }

    @Test("an answer that is read slowly comes whole, however short the time between two requests is")
    func waitsForSlow() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
            $0.handshakeTimeout = .seconds(1)
        } body: { fixture in
            fixture.feed((1...3_000).map { Frames.trade(Frames.btc, "\($0)") })
            let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
            let head = try await client.request(
                "GET /v1/trades/\(Frames.btc)?limit=3000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            try await client.read(false)
            // Longer than the time between two requests, which begins when this one's answer has left.
            try await Task.sleep(for: .milliseconds(2_200))
            try await client.read(true)
            let length = try #require(Self.length(head))
            #expect(length > 200_000)
            try await client.skip(length)
            try await client.ended()
        }
    }

    private static func length(_ head: String) -> Int? {
        head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst("content-length: ".count)) }
    }

    // MARK: By hand

    /// A connection whose peer takes bytes only when the test lets it.
    private struct Bench {
        let channel = EmbeddedChannel()
        let refusals = Calls()
        private let gate = SocketGate()

        init() throws {
            self.gate.isOpen = false
            var settings = RelaySettings()
            settings.stallTimeout = .seconds(8)
            let sources = RelayRouter.Sources(
                reading: { throw HTTPRefusal.failed },
                snapshot: { throw HTTPRefusal.failed },
                symbolSnapshot: { _ in throw HTTPRefusal.failed },
                trades: { _, _ in throw HTTPRefusal.failed },
                bars: { _, _ in throw HTTPRefusal.failed },
                past: nil,
                instruments: Instruments(),
                version: "",
                replay: nil
            )
            let refusals = self.refusals
            let host = HTTPHandler.Host(
                settings: settings,
                gate: RequestGate(boundAddress: "127.0.0.1", allowedOrigins: []),
                router: RelayRouter(
                    sources: sources,
                    logger: Logger(label: "relay", factory: { _ in SwiftLogNoOpLogHandler() })
                ),
                refused: { refusals.add($0) },
                admit: { .tooManyClients },
                makeClient: { _, _ throws(HTTPRefusal) in throw HTTPRefusal.failed }
            )
            try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try self.channel.pipeline.syncOperations.addHandlers([
                self.gate, HTTPResponseEncoder(), HTTPHandler(host),
            ])
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "evil.example"])
            try self.channel.writeInbound(HTTPServerRequestPart.head(head))
            try self.channel.writeInbound(HTTPServerRequestPart.end(nil))
        }

        /// The peer takes all that waits.
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

    @Test("the time in which a peer may close begins when it has the answer, not when that was written")
    func lingersBehindAnswer() throws {
        let bench = try Bench()
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(7))
        #expect(bench.channel.isActive)
        bench.take()
        #expect(try bench.text().hasPrefix("HTTP/1.1 421 "))
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(bench.channel.isActive)
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!bench.channel.isActive)
        #expect(bench.refusals.all == ["host-not-allowed"])
    }

    @Test("a peer that takes nothing of its answer is ended after the time for a stalled client, and counted")
    func endsStuck() throws {
        let bench = try Bench()
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(7_999))
        #expect(bench.channel.isActive)
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!bench.channel.isActive)
        #expect(bench.refusals.all == ["host-not-allowed", "answer-unread"])
    }

    @Test("progress is whatever leaves, and none for the time of the patience is the end")
    func progress() {
        let start = NIODeadline.uptimeNanoseconds(0)
        var progress = AnswerProgress(left: 100, patience: .seconds(10), now: start)
        // Encrypted, what is left is a little more.
        let looks: [(left: Int, second: Int64)] = [(100, 9), (99, 11), (120, 20), (99, 21)]
        let verdicts = looks.map { progress.isStuck(left: $0.left, now: start + .seconds($0.second)) }
        #expect(verdicts == [false, false, false, true])
    }
}
