import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import HTTP
@testable import Relay

/// The end of a connection whose peer continues to send after its last answer; the test controls time.
@Suite("The time after the last answer")
struct LingeringTests {
    private static let start = NIODeadline.uptimeNanoseconds(0)

    /// Returns the second at which it is over.
    private func end(of answer: ReadProgress, left: (Int64) -> Int, dropped: (Int64) -> Int) -> Int64? {
        var lingering = Lingering(answer)
        return (1...1_000).first { second in
            lingering.isOver(left: left(second), dropped: dropped(second), now: Self.start + .seconds(second))
        }
    }

    @Test("a peer that sends nothing has a second, one that sends anything has five")
    func limits() {
        let answer = ReadProgress(left: 0, patience: .seconds(10), now: Self.start)
        #expect(self.end(of: answer, left: { _ in 0 }, dropped: { _ in 0 }) == 1)
        #expect(self.end(of: answer, left: { _ in 0 }, dropped: { min(Int($0), 3) }) == 4)
        #expect(self.end(of: answer, left: { _ in 0 }, dropped: { Int($0) }) == 5)
    }

    @Test("the time begins when the peer has its answer, and a peer that does not take it gets no more time")
    func beginsBehindAnswer() {
        let answer = ReadProgress(left: 700, patience: .seconds(10), now: Self.start)
        // The answer was seen to have left in the seventh second.
        #expect(self.end(of: answer, left: { max(0, 700 - Int($0) * 100) }, dropped: { Int($0) }) == 12)
        #expect(self.end(of: answer, left: { _ in 700 }, dropped: { Int($0) }) == 10)
        // A byte now and then does not help: at the slowest allowed rate the whole answer would have left.
        #expect(self.end(of: answer, left: { 700 - Int($0) }, dropped: { Int($0) }) == 11)
        // Bytes in the kernel after the answer has gone are not the answer.
        let none = ReadProgress(left: 0, patience: .seconds(10), now: Self.start)
        #expect(self.end(of: none, left: { $0 > 2 ? Int($0) : 0 }, dropped: { Int($0) }) == 5)
    }

    private func bench() throws -> (AnswerBench, InputPortions) {
        let bench = try AnswerBench()
        let portions = try bench.addPortions()
        bench.take()
        #expect(try bench.text().hasPrefix("HTTP/1.1 421 "))
        return (bench, portions)
    }

    @Test("a peer that drips after its refusal is cut at the limit, and none of its input is kept or parsed")
    func drips() throws {
        let (bench, portions) = try self.bench()
        var drips = 0
        while bench.channel.isActive, drips < 1_000 {
            drips += 1
            try bench.channel.writeInbound(ByteBuffer(string: "x"))
            bench.channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        }
        #expect(drips == 50)
        #expect(portions.dropped == 50)
        #expect(bench.refusals.all == ["host-not-allowed"])
    }

    @Test("a peer that floods after its refusal is cut when more has come than any kernel holds")
    func floods() throws {
        let (bench, portions) = try self.bench()
        let bytes = ByteBuffer(repeating: 0x78, count: 64 << 10)
        for _ in 0..<(Lingering.maximumBytes / bytes.readableBytes) { try bench.channel.writeInbound(bytes) }
        #expect(bench.channel.isActive && portions.dropped == Lingering.maximumBytes)
        try bench.channel.writeInbound(ByteBuffer(string: "x"))
        #expect(!bench.channel.isActive)
    }

    @Test("a connection whose peer ends its side is closed at once")
    func ends() throws {
        let (bench, _) = try self.bench()
        try bench.channel.writeInbound(ByteBuffer(string: "the rest"))
        bench.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!bench.channel.isActive)
    }

    @Test("input from before the refusal left is discarded with the rest, and its end is noticed")
    func dropsHeld() throws {
        for ended in [false, true] {
            let bench = try AnswerBench()
            let portions = try bench.addPortions()
            try bench.channel.writeInbound(ByteBuffer(string: String(repeating: "x", count: 5_000)))
            if ended { bench.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
            #expect(bench.channel.isActive)
            bench.take()
            #expect(portions.dropped == 5_000)
            #expect(bench.channel.isActive != ended)
        }
    }
}
