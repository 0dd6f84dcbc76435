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
            // However long the looks below take, the client is not given up.
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            let requests = 300
            let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
            try await client.read(false)
            let pipeline = ByteBuffer(string: String(repeating: Self.page, count: requests))
            async let sent: Void = client.channel.writeAndFlush(pipeline)
            var most = 0
            // The suite's limit ends it.
            while most == 0 { most = try await fixture.waitingBytes() }
            // Each of these gives the relay's loop turns in which it could answer more.
            for _ in 0..<100 { most = max(most, try await fixture.waitingBytes()) }
            // One answer is the file and its head, 14 KB.
            #expect(most < 20_000, "\(most) bytes waited")
            try await client.read(true)
            try await sent
            for number in 0..<requests {
                let head = try await client.head()
                try #require(head.hasPrefix("HTTP/1.1 200 "), "answer \(number): \(head)")
                try await client.skip(try #require(Self.length(head)))
            }
        }
    }

    @Test("an answer that is read slowly comes whole")
    func waitsForSlow() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            fixture.feed((1...3_000).map { Frames.trade(Frames.btc, "\($0)") })
            let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
            try await client.read(false)
            try await client.channel.writeAndFlush(ByteBuffer(string: Self.trades))
            while try await fixture.waitingBytes() == 0 {}
            try await client.read(true)
            let head = try await client.head()
            let length = try #require(Self.length(head))
            #expect(length > 200_000)
            try await client.skip(length)
            try await client.ended()
        }
    }

    @Test("a relay that stops while an answer is unread gives it to who reads on, and waits for nobody else")
    func stops() async throws {
        for reads in [true, false] {
            try await RelayFixture.run {
                $0.sendBufferBytes = 8 << 10
                $0.stallTimeout = .hours(1)
            } body: { fixture in
                fixture.feed((1...3_000).map { Frames.trade(Frames.btc, "\($0)") })
                let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
                try await client.read(false)
                try await client.channel.writeAndFlush(ByteBuffer(string: Self.trades))
                while try await fixture.waitingBytes() == 0 {}
                if !reads {
                    // Only the limit of the stop ends it: the stall's is an hour.
                    return await fixture.relay.stop()
                }
                async let stop: Void = fixture.relay.finish()
                try await client.read(true)
                try await client.skip(try #require(Self.length(try await client.head())))
                try await client.ended()
                await stop
            }
        }
    }

    private static let trades =
        "GET /v1/trades/\(Frames.btc)?limit=3000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    private static func length(_ head: String) -> Int? {
        head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst("content-length: ".count)) }
    }

    // MARK: By hand

    @Test("the time in which a peer may close begins when it has the answer, not when that was written")
    func lingersBehindAnswer() throws {
        let bench = try AnswerBench()
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
        let bench = try AnswerBench()
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(7_999))
        #expect(bench.channel.isActive)
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!bench.channel.isActive)
        #expect(bench.refusals.all == ["host-not-allowed", "answer-unread"])
    }

    @Test("the time between two requests begins when the answer has left")
    func countsFromAnswer() throws {
        let bench = try AnswerBench(asks: false)
        try bench.answer("answer")
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(7))
        #expect(bench.channel.isActive, "far longer than the time between two requests")
        bench.take()
        #expect(try bench.text().hasSuffix("\r\n\r\nanswer"))
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1_999))
        #expect(bench.channel.isActive)
        bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!bench.channel.isActive)
        #expect(bench.refusals.all.isEmpty)
    }

    @Test("a refusal behind an answer has one timer, which ends with it")
    func watchesOnce() throws {
        let bench = try AnswerBench(asks: false)
        bench.handler.waiting = [.head(AnswerBench.refused), .end(nil)]
        // The answer leaves at once, and the refusal behind it does not.
        bench.gate.isOpen = true
        bench.gate.closesAfterFlush = true
        try bench.answer("answer")
        bench.take()
        #expect(try bench.text().contains("answerHTTP/1.1 421 "))
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(!bench.channel.isActive)
        #expect(bench.refusals.all == ["host-not-allowed"])
    }

    @Test("progress is whatever leaves, and none for the time of the patience is the end")
    func progress() {
        let start = NIODeadline.uptimeNanoseconds(0)
        var progress = AnswerProgress(left: 1 << 20, patience: .seconds(10), now: start)
        // Encrypted, what is left is a little more.
        let looks: [(left: Int, second: Int64)] = [(1 << 20, 9), (999_999, 11), (1_000_020, 20), (999_999, 21)]
        let verdicts = looks.map { progress.isStuck(left: $0.left, now: start + .seconds($0.second)) }
        #expect(verdicts == [false, false, false, true])
    }

    @Test("who takes a byte now and then is ended when a peer at the least pace would have all")
    func leastPace() {
        let start = NIODeadline.uptimeNanoseconds(0)
        // 20 s of 8 KiB each, and the patience.
        var progress = AnswerProgress(left: 160 << 10, patience: .seconds(10), now: start)
        for second in 1...29 {
            let isStuck = progress.isStuck(left: (160 << 10) - second, now: start + .seconds(Int64(second)))
            #expect(!isStuck, "second \(second)")
        }
        let isStuck = progress.isStuck(left: (160 << 10) - 30, now: start + .seconds(30))
        #expect(isStuck)
    }
}
