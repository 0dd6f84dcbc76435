import WebSocket
import Market
import NIOConcurrencyHelpers
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("Slow clients of the relay", .timeLimit(.minutes(5 * Patience.factor)))
struct SlowClientTests {
    /// A frame of ten trades, about 800 bytes.
    private static func frame(_ number: Int) -> String {
        let elements = (0..<10).map { Frames.element(Frames.btc, "\(number * 10 + $0 + 1)") }
        return #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    private static func small(_ settings: inout RelaySettings) {
        settings.maximumWaitingBytes = 64 << 10
        settings.sendBufferBytes = 8 << 10
        // A client counts as slow only by its unread bytes, however long the machine takes for the rest of the test. (A
        // client with too many messages is seen to have caught up within a tenth of this time.)
        settings.stallTimeout = .seconds(30) * Patience.factor
        settings.webSocket.pingInterval = .hours(1)
    }

    @Test("a client that stops reading delays no other, and is closed with the count of what it missed")
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

    @Test("a client that never reads again is closed")
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
                // Each exchange gives the relay's loop a turn. The suite's time limit bounds this loop.
                try await fixture.settle(other)
            }
        }
    }

    @Test("a slow client of the stream skips to the newest price, and every trade is sent or counted")
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
            // The newest price may be the one sent last, and then it is not sent again; this one differs.
            fixture.feed(Frames.trade(Frames.btc, "99", time: trades + 1))
            var reported: UInt64 = 0
            var last = ""
            var messages = 0
            var gaps: [Gap] = []
            while reported < trades + 1 {
                let frame = try await slow.frame()
                if case .gap(let gap) = StreamMessage.parse(frame.payload) {
                    gaps.append(gap)
                    continue
                }
                guard case .price(let update) = StreamMessage.parse(frame.payload) else {
                    guard case .snapshot = StreamMessage.parse(frame.payload) else { break }
                    reported += 1
                    continue
                }
                try #require("\(update.summary.price)" != last)
                last = "\(update.summary.price)"
                reported += update.skipped + 1
                messages += 1
            }
            #expect(reported == trades + 1)
            #expect(last == "99")
            #expect(messages < trades / 2, "\(messages) prices came")
            #expect(gaps.map(\.reason) == ["a", "b"], "each of them, in order")
        }
    }

    @Test("a client that chose the newest continues with it, and gets the count of what it missed")
    func goesOn() async throws {
        try await RelayFixture.run(Self.small) { fixture in
            let slow = try await RawClient.open(
                "/?token=any&overflow=latest",
                at: fixture.address,
                receiveBuffer: 4 << 10
            )
            try await slow.subscribe(Frames.btc)
            try await fixture.settle(slow)
            let other = try await fixture.tradesClient(Frames.btc)
            try await slow.read(false)
            let frames = 600
            for number in 0..<frames {
                fixture.feed(Self.frame(number))
                _ = try await other.frame()
            }
            try await slow.read(true)
            var delivered = 0
            while true {
                let text = try await slow.frame().text
                if text.contains("skipped") {
                    #expect(text == #"{"type":"skipped","trades":\#((frames - delivered) * 10)}"#)
                    break
                }
                try #require(text == Self.frame(delivered))
                delivered += 1
            }
            #expect(delivered > 80 && delivered < frames, "\(delivered) frames fit")
            for number in frames..<frames + 3 {
                fixture.feed(Self.frame(number))
                let text = try await slow.frame().text
                #expect(text == Self.frame(number))
            }
        }
    }

    @Test("many small messages are too many as well")
    func tooManyMessages() async throws {
        try await RelayFixture.run {
            Self.small(&$0)
            $0.maximumWaitingBytes = 16 << 20
            $0.maximumWaitingMessages = 50
        } body: { fixture in
            let frozen = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await frozen.read(false)
            let other = try await fixture.tradesClient(Frames.btc)
            let frames = 2_000
            for number in 0..<frames {
                fixture.feed(Frames.trade(Frames.btc, "\(number + 1)"))
                _ = try await other.frame()
            }
            try await frozen.read(true)
            var delivered = 0
            while true {
                let frame = try await frozen.frame()
                if let closure = frame.closure {
                    // The client is closed once its queue is in the sockets' buffers, possibly while trades still come.
                    let missed = closure.split(separator: " ").compactMap { Int($0) }.last ?? 0
                    #expect(closure == "1013 too slow: \(missed) trades missed")
                    #expect(missed > 0 && missed <= frames - delivered, "\(delivered) came")
                    break
                }
                try #require(frame.text == Frames.trade(Frames.btc, "\(delivered + 1)"))
                delivered += 1
            }
            #expect(delivered >= 50 && delivered < frames, "\(delivered) frames fit")
        }
    }

    @Test("a full socket keeps the order of trades, pongs and later messages")
    func keepsOrder() async throws {
        try await RelayFixture.run {
            Self.small(&$0)
            $0.maximumWaitingBytes = 16 << 20
            $0.maximumWaitingMessages = .max
        } body: { fixture in
            let slow = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            let other = try await fixture.tradesClient(Frames.btc)
            var sent = 0
            func feed(_ count: Int) async throws {
                for _ in 0..<count {
                    fixture.feed(Self.frame(sent))
                    sent += 1
                    _ = try await other.frame()
                }
            }
            for round in 0..<4 {
                try await slow.read(round % 2 == 1)
                try await feed(60)
                // Answered after the queue, or in place of it when it is empty.
                try await slow.channel.writeAndFlush(RawClient.masked(opcode: 9, "\(round)"))
                try await feed(20)
            }
            try await slow.read(true)
            var frames = 0
            var pongs: [String] = []
            while frames < sent {
                let frame = try await slow.frame()
                if frame.opcode == 10 {
                    pongs.append(frame.text)
                    continue
                }
                try #require(frame.text == Self.frame(frames))
                frames += 1
            }
            try await fixture.settleAnswered(slow)
            // If several pings come while the channel is full, only the newest is answered (RFC 6455, 5.5.3).
            #expect(pongs == pongs.sorted())
        }
    }

    @Test("clients that reset their connections during a write disturb no other")
    func survivesResets() async throws {
        try await RelayFixture.run { fixture in
            let other = try await fixture.tradesClient(Frames.btc)
            for round in 0..<20 {
                let rude = try await fixture.tradesClient(Frames.btc)
                // A connection closed with unread bytes is reset.
                try await rude.read(false)
                fixture.feed(Self.frame(round * 3))
                try await rude.close()
                fixture.feed(Self.frame(round * 3 + 1), Self.frame(round * 3 + 2))
                for number in 0..<3 {
                    let text = try await other.frame().text
                    try #require(text == Self.frame(round * 3 + number))
                }
            }
            while fixture.relay.clientCount > 1 { try await fixture.settle(other) }
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

    @Test("a replay waits for no client at a fixed speed, for the slowest at max, and then for none again")
    func waitsAtMax() async throws {
        let flow = FlowRecorder()
        let replay = PacedReplay()
        try await RelayFixture.run(flow: flow, replay: replay, Self.small) { fixture in
            var number = 0
            func feed(atMost count: Int, until isEnough: () -> Bool) async throws {
                let end = number + count
                while number < end, !isEnough() {
                    fixture.feed(Self.frame(number))
                    number += 1
                    // Nothing waits between the two loops, so only a client can be slow.
                    try await fixture.relay.eventLoop.submit {}.get()
                }
            }
            let first = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await first.read(false)
            try await feed(atMost: 600) { false }
            try await first.read(true)
            var closure: String?
            while closure == nil { closure = try await first.frame().closure }
            #expect(closure?.hasPrefix("1013 too slow: ") == true && !flow.isPaused, "\(closure ?? "")")
            let second = try await fixture.tradesClient(Frames.btc, receiveBuffer: 4 << 10)
            try await second.read(false)
            let begin = number
            replay.change(speed: nil)
            try await feed(atMost: 5_000) { flow.isPaused }
            #expect(flow.isPaused)
            let end = number
            try await second.read(true)
            for number in begin..<end {
                let text = try await second.frame().text
                try #require(text == Self.frame(number))
            }
            #expect(await flow.next() == "pause")
            #expect(await flow.next() == "resume")
            try await second.read(false)
            try await feed(atMost: 5_000) { flow.pauses > 1 }
            #expect(await flow.next() == "pause")
            // The client is slow, but the replay no longer waits for it.
            replay.change(speed: 10)
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

/// A replay whose speed the test sets.
private final class PacedReplay: ReplayControlling {
    private struct State {
        var position = ReplayPosition(start: 0, end: 10_000_000_000, at: 0, speed: 1)
        var watchers: [@Sendable (ReplayPosition) -> Void] = []
    }

    private let state = NIOLockedValueBox(State())

    func position() -> ReplayPosition { self.state.withLockedValue { $0.position } }

    func watch(_ changed: @escaping @Sendable (ReplayPosition) -> Void) {
        self.state.withLockedValue { $0.watchers.append(changed) }
    }

    func request(
        _ request: ReplayRequest,
        answer: @escaping @Sendable (Result<ReplayPosition, ReplayRefusal>) -> Void
    ) {
        answer(.success(self.position()))
    }

    func change(speed: Double?) {
        let (position, watchers) = self.state.withLockedValue { state in
            state.position.speed = speed
            return (state.position, state.watchers)
        }
        for watcher in watchers { watcher(position) }
    }
}

/// A feed that can wait and reports when it was asked to.
final class FlowRecorder: FlowControl {
    private let calls: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let paused = Calls()

    init() { (self.calls, self.continuation) = AsyncStream.makeStream() }

    /// Whether it was ever asked to wait, and how often.
    var isPaused: Bool { self.pauses > 0 }
    var pauses: Int { self.paused.all.count }

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
