import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting
@testable import HTTP
@testable import Relay

@Suite("Unread and slowly read answers over HTTP", .timeLimit(.minutes(2 * Patience.factor)))
struct UnreadAnswerTests {
    private static let page = "GET /page/market.js HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("of any number of requests at once only one answer waits, and all are answered when they are read")
    func boundsPipeline() async throws {
        try await RelayFixture.run {
            $0.sendBufferBytes = 8 << 10
            // The client is not closed, however long the checks below take.
            $0.stallTimeout = .hours(1)
        } body: { fixture in
            let requests = 300
            let client = try await RawClient.connect(to: fixture.address, receiveBuffer: 4 << 10)
            try await client.read(false)
            let pipeline = ByteBuffer(string: String(repeating: Self.page, count: requests))
            async let sent: Void = client.channel.writeAndFlush(pipeline)
            var most = 0
            // The suite's time limit bounds this loop.
            while most == 0 { most = try await fixture.waitingBytes() }
            // Each of these requests gives the relay's loop turns in which it could answer more.
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

    @Test("an answer that is read slowly arrives whole")
    func waitsForSlow() async throws {
        try await RelayFixture.runUnread(RelayFixture.lastTrades) { _, client in
            try await client.read(true)
            let head = try await client.head()
            let length = try #require(Self.length(head))
            #expect(length > 200_000)
            try await client.skip(length)
            try await client.ended()
        }
    }

    @Test("a relay that stops during an unread answer finishes it for a client that reads, and for no other")
    func stops() async throws {
        for reads in [true, false] {
            try await RelayFixture.runUnread(RelayFixture.lastTrades) { fixture, client in
                if !reads {
                    // Only the stop's limit ends it: the stall limit is an hour.
                    return await fixture.relay.stop()
                }
                async let stop: Void = fixture.relay.finish(within: RelayServer.finishLimit * Patience.factor)
                try await client.read(true)
                try await client.skip(try #require(Self.length(try await client.head())))
                try await client.ended()
                await stop
            }
        }
    }

    private static func length(_ head: String) -> Int? {
        head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst("content-length: ".count)) }
    }

    // MARK: On a bench

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

    @Test("a peer that takes nothing of its answer is closed after the stall limit, and counted")
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

    @Test("a refusal after an answer has one timer, which ends with it")
    func watchesOnce() throws {
        let bench = try AnswerBench(asks: false)
        bench.handler.waiting = [.head(AnswerBench.refused), .end(nil)]
        // The answer leaves at once, and the refusal after it does not.
        bench.gate.isOpen = true
        bench.gate.closesAfterFlush = true
        try bench.answer("answer")
        bench.take()
        #expect(try bench.text().contains("answerHTTP/1.1 421 "))
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(!bench.channel.isActive)
        #expect(bench.refusals.all == ["host-not-allowed"])
    }

    /// Sends answers one after the other. Each is taken after some time into a kernel that is never read empty.
    private func row(of answers: Int, bytes: Int, each time: TimeAmount, resting rest: TimeAmount) throws -> AnswerBench
    {
        let bench = try AnswerBench(asks: false)
        for _ in 0..<answers where bench.channel.isActive {
            try bench.answer(String(repeating: "x", count: bytes))
            bench.channel.embeddedEventLoop.advanceTime(by: time)
            guard bench.channel.isActive else { break }
            bench.gate.swallow()
            // The next request has arrived and waits for the router.
            bench.handler.stopTimer()
            bench.handler.state = .answering
            bench.channel.embeddedEventLoop.advanceTime(by: rest)
        }
        return bench
    }

    @Test("a row of small answers, each taken just in time, is ended when the slowest allowed peer would be done")
    func endsRow() throws {
        // One limit of 8 s applies to all of them: the second is not waited for to its end.
        let bench = try self.row(of: 10, bytes: 100, each: .seconds(7), resting: .zero)
        #expect(!bench.channel.isActive)
        #expect(bench.refusals.all == ["answer-unread"])
        #expect(bench.channel.embeddedEventLoop.now == .uptimeNanoseconds(0) + .seconds(14))
    }

    @Test("a row at the slowest allowed rate may have any length, and the router's time does not count")
    func keepsPace() throws {
        let bench = try self.row(of: 60, bytes: 8 << 10, each: .seconds(1), resting: .zero)
        #expect(bench.channel.isActive)
        let resting = try self.row(of: 20, bytes: 100, each: .milliseconds(10), resting: .seconds(5))
        #expect(resting.channel.isActive)
    }

    @Test("a peer that has taken all of its answers has the whole limit again")
    func forgives() throws {
        let bench = try AnswerBench(asks: false)
        for _ in 0..<5 {
            try bench.answer("answer")
            bench.channel.embeddedEventLoop.advanceTime(by: .seconds(7))
            try #require(bench.channel.isActive)
            bench.take()
            bench.gate.isOpen = false
        }
        #expect(bench.refusals.all.isEmpty)
    }

    @Test("any bytes that leave are progress, and none within the limit is the end")
    func progress() {
        let start = NIODeadline.uptimeNanoseconds(0)
        var progress = ReadProgress(left: 1 << 20, patience: .seconds(10), now: start)
        // Encryption makes the remaining bytes slightly more.
        let looks: [(left: Int, second: Int64)] = [(1 << 20, 9), (999_999, 11), (1_000_020, 20), (999_999, 21)]
        let verdicts = looks.map { progress.isStuck(left: $0.left, now: start + .seconds($0.second)) }
        #expect(verdicts == [false, false, false, true])
    }

    @Test("a peer that takes a byte now and then is ended when the slowest allowed peer would be done")
    func minimumPace() {
        let start = NIODeadline.uptimeNanoseconds(0)
        // 20 s with 8 KiB each, and the limit.
        var progress = ReadProgress(left: 160 << 10, patience: .seconds(10), now: start)
        for second in 1...29 {
            let isStuck = progress.isStuck(left: (160 << 10) - second, now: start + .seconds(Int64(second)))
            #expect(!isStuck, "second \(second)")
        }
        let isStuck = progress.isStuck(left: (160 << 10) - 30, now: start + .seconds(30))
        #expect(isStuck)
    }
}
