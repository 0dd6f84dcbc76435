import Market
import NIOCore
import Testing
import Wire

@testable import Sinks

@Suite("Slow clients of the relay", .timeLimit(.minutes(1)))
struct SlowClientTests {
    /// A frame of ten trades, about 800 bytes.
    private static func frame(_ number: Int) -> String {
        let elements = (0..<10).map { Frames.element(Frames.btc, "\(number * 10 + $0 + 1)") }
        return #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    private static func small(_ settings: inout RelaySettings) {
        settings.maximumWaitingBytes = 64 << 10
        settings.sendBufferBytes = 8 << 10
    }

    @Test("a client that stops reading delays nobody, and is closed with the count of what it missed")
    func closesWithCount() async throws {
        try await RelayFixture.run(Self.small) { fixture in
            var others: [RawClient] = []
            for _ in 1...10 { others.append(try await fixture.tradesClient(Frames.btc)) }
            let frozen = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await frozen.read(false)
            let frames = 600
            for number in 0..<frames {
                fixture.feed(Self.frame(number))
                for client in others {
                    let text = try await client.frame().text
                    try #require(text == Self.frame(number))
                }
            }
            try await frozen.read(true)
            var delivered = 0
            while true {
                let frame = try await frozen.frame()
                if let closure = frame.closure {
                    #expect(closure == "1013 too slow: \((frames - delivered) * 10) trades missed")
                    break
                }
                try #require(frame.text == Self.frame(delivered))
                delivered += 1
            }
            #expect(delivered > 80 && delivered < frames, "\(delivered) frames fit")
            try await fixture.settle(others[0])
            #expect(fixture.relay.clientCount >= 10)
        }
    }

    @Test("a client that never reads again is given up")
    func givesUp() async throws {
        try await RelayFixture.run {
            Self.small(&$0)
            $0.stallTimeout = .milliseconds(100)
        } body: { fixture in
            let frozen = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await frozen.read(false)
            let other = try await fixture.tradesClient(Frames.btc)
            for number in 0..<600 {
                fixture.feed(Self.frame(number))
                _ = try await other.frame()
            }
            while fixture.relay.clientCount > 1 {
                // Each exchange gives the relay's loop a turn; the suite's limit ends it.
                try await fixture.settle(other)
            }
        }
    }

    @Test("a slow client of the stream skips to the newest, and every trade is told or counted")
    func conflates() async throws {
        try await RelayFixture.run {
            Self.small(&$0)
            $0.maximumWaitingBytes = 16 << 10
        } body: { fixture in
            let slow = try await fixture.streamClient(receiveBuffer: 4 << 10)
            let other = try await fixture.streamClient()
            for client in [slow, other] {
                try await client.send(#"{"type":"subscribe"}"#)
                try await fixture.settle(client)
            }
            try await slow.read(false)
            let trades = 2_000
            for number in 1...trades {
                fixture.feed(Frames.trade(Frames.btc, "\(number % 7 + 1)", time: number))
                let update = try await other.update()
                try #require(update.price == "\(number % 7 + 1)" && update.skipped == 0)
                if number == 1_000 {
                    fixture.relay.gapFound(Gap(from: 1_000_000, to: 2_000_000, reason: "a", nextSequence: 1_001))
                    fixture.relay.gapFound(Gap(from: 3_000_000, to: 4_000_000, reason: "b", nextSequence: 1_001))
                    for _ in 1...2 { _ = try await other.frame() }
                }
            }
            try await slow.read(true)
            // The newest price can be the one that was sent last, and then says nothing; this one can not.
            fixture.feed(Frames.trade(Frames.btc, "99", time: trades + 1))
            var told: UInt64 = 0
            var last = ""
            var messages = 0
            var gaps: [Gap] = []
            while told < trades + 1 {
                let frame = try await slow.frame()
                if case .gap(let gap) = StreamMessage.parse(frame.payload) {
                    gaps.append(gap)
                    continue
                }
                guard case .price(let update) = StreamMessage.parse(frame.payload) else {
                    guard case .snapshot = StreamMessage.parse(frame.payload) else { break }
                    told += 1
                    continue
                }
                try #require("\(update.summary.price)" != last)
                last = "\(update.summary.price)"
                told += update.skipped + 1
                messages += 1
            }
            #expect(told == trades + 1)
            #expect(last == "99")
            #expect(messages < trades / 2, "\(messages) prices came")
            #expect(gaps.map(\.reason) == ["a", "b"], "each of them, in order")
        }
    }

    @Test("a replay waits for a slow lossless client, which misses nothing")
    func waits() async throws {
        let flow = FlowRecorder()
        try await RelayFixture.run(flow: flow, Self.small) { fixture in
            let client = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await client.read(false)
            var fed = 0
            while !flow.isPaused, fed < 2_000 {
                fixture.feed(Self.frame(fed))
                fed += 1
            }
            try await client.read(true)
            for number in 0..<fed {
                let text = try await client.frame().text
                try #require(text == Self.frame(number))
            }
            #expect(await flow.next() == "pause")
            #expect(await flow.next() == "resume")
        }
    }

    @Test("a replay does not wait for ever")
    func doesNotWaitForEver() async throws {
        let flow = FlowRecorder()
        try await RelayFixture.run(flow: flow) {
            Self.small(&$0)
            $0.stallTimeout = .milliseconds(200)
        } body: { fixture in
            let client = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await client.read(false)
            var fed = 0
            while !flow.isPaused, fed < 2_000 {
                fixture.feed(Self.frame(fed))
                fed += 1
            }
            #expect(await flow.next() == "pause")
            #expect(await flow.next() == "resume")
        }
    }
}

/// A feed that can wait, and tells when it was asked to.
final class FlowRecorder: FlowControl {
    private let calls: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let paused = Calls()

    init() { (self.calls, self.continuation) = AsyncStream.makeStream() }

    /// Whether it has ever been asked to wait.
    var isPaused: Bool { !self.paused.all.isEmpty }

    func pause() {
        self.paused.add("pause")
        self.continuation.yield("pause")
    }

    func resume() { self.continuation.yield("resume") }

    /// Waits for the next call.
    func next() async -> String? {
        for await call in self.calls { return call }
        return nil
    }
}
