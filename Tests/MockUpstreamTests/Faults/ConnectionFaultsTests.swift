import Feeds
import Market
import MockUpstream
import NIOCore
import Testing

/// The state machine of one connection's faults, with time as an argument and chance from a seed.
@Suite("A connection's faults")
struct ConnectionFaultsTests {
    private static let second: Int64 = 1_000_000_000

    private func connection(_ texts: String..., seed: UInt64 = 1, number: Int = 1) throws -> ConnectionFaults {
        var faults = try FaultPlan(parsing: texts, seed: seed).connection(number)
        faults.webSocketOpened(now: 100 * Self.second)
        return faults
    }

    /// A frame with one trade of each symbol.
    private static func frame(_ number: Int, symbols: [String] = ["A"]) -> ByteBuffer {
        let trades = symbols.map { #"{"c":null,"p":\#(number + 1),"s":"\#($0)","t":1723161255342,"v":1}"# }
        return ByteBuffer(string: #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#)
    }

    private static let ping = ByteBuffer(string: #"{"type":"ping"}"#)

    /// Returns what is sent when frames are written one after the other, including the held frame at the end.
    private static func sent(_ faults: inout ConnectionFaults, _ frames: [ByteBuffer], now: Int64 = 0) -> [ByteBuffer] {
        var sent: [ByteBuffer] = []
        for frame in frames {
            switch faults.frameWritten(frame, now: 100 * Self.second + now) {
            case .pass: sent.append(frame)
            case .texts(let texts): sent += texts
            case .cut: return sent
            }
        }
        sent += faults.takeHeld()
        return sent
    }

    @Test("happen to the connections that they name")
    func connections() throws {
        let plan = try FaultPlan(parsing: ["status=429@2", "hang=tcp@4-5", "rst=upgrade@7-"])
        let openings = (1...8).map { plan.connection($0).opening.description }
        #expect(openings == ["", "status=429", "", "hang=tcp", "hang=tcp", "", "rst=upgrade", "rst=upgrade"])
        #expect(plan.connection(1).isQuiet)
    }

    @Test("the first of two that decide the opening wins")
    func openings() throws {
        #expect(try self.connection("hang=tls", "status=500").opening == .hang(.tls))
    }

    @Test("happen in order at their moments, counted from the open of the WebSocket")
    func moments() throws {
        var faults = try self.connection("rst@10s", "close=1001@5s", "error=no@5s", "half-open@1h")
        #expect(faults.deadline == 105 * Self.second)
        #expect(faults.timeReached(now: 104 * Self.second).isEmpty)
        let events = faults.timeReached(now: 105 * Self.second)
        #expect(events.map(\.description) == ["close=1001", "error=no"])
        #expect(faults.timeReached(now: 110 * Self.second) == [.reset])
        #expect(faults.deadline == 3_700 * Self.second)
        // A jump of the clock skips no event.
        #expect(faults.timeReached(now: .max) == [.halfOpen])
        #expect(faults.deadline == nil)
    }

    @Test("happen within a span at a moment that only the seed and the connection decide")
    func chance() throws {
        func moment(seed: UInt64, number: Int) throws -> Int64 {
            try #require(try self.connection("drop@10s-20s", seed: seed, number: number).deadline) - 100 * Self.second
        }
        #expect(try moment(seed: 5, number: 1) == moment(seed: 5, number: 1))
        let moments = try Set((1...50).map { try moment(seed: 5, number: $0) })
        #expect(moments.count == 50)
        #expect(moments.allSatisfy { (10 * Self.second...20 * Self.second).contains($0) })
        #expect(try moment(seed: 5, number: 1) != moment(seed: 6, number: 1))
    }

    @Test("a stall withholds trades within its span, and lets pings through")
    func stall() throws {
        var faults = try self.connection("stall@30s-60s")
        let frames = [Self.frame(1), Self.ping]
        #expect(Self.sent(&faults, frames, now: 29 * Self.second) == frames)
        #expect(Self.sent(&faults, frames, now: 30 * Self.second) == [Self.ping])
        #expect(Self.sent(&faults, frames, now: 59 * Self.second) == [Self.ping])
        #expect(Self.sent(&faults, frames, now: 60 * Self.second) == frames)
        var forEver = try self.connection("stall@30s")
        #expect(Self.sent(&forEver, frames, now: 90_000 * Self.second) == [Self.ping])
    }

    @Test("a stall of one symbol leaves the others' trades in their frames")
    func stalledSymbol() throws {
        var faults = try self.connection("stall=A")
        let sent = Self.sent(
            &faults,
            [Self.frame(1), Self.frame(2, symbols: ["B", "A", "C"]), Self.frame(3, symbols: ["B"])]
        )
        #expect(sent == [Self.frame(2, symbols: ["B", "C"]), Self.frame(3, symbols: ["B"])])
    }

    @Test("a duplicated frame is sent as often as configured, whole, and at once")
    func duplicates() throws {
        var faults = try self.connection("duplicate=1,copies=3")
        let frame = Self.frame(1)
        #expect(Self.sent(&faults, [frame, Self.ping]) == [frame, frame, frame, Self.ping])
        var some = try self.connection("duplicate=0.1")
        let frames = (0..<10_000).map { Self.frame($0) }
        #expect((10_800...11_200).contains(Self.sent(&some, frames).count))
    }

    @Test("a reordered frame comes after the next one; none is lost, and none is more than one place late")
    func reorder() throws {
        var always = try self.connection("reorder=1")
        let five = (0..<5).map { Self.frame($0) }
        #expect(Self.sent(&always, five) == [five[1], five[0], five[3], five[2], five[4]])
        var some = try self.connection("reorder=0.2", "duplicate=0.1")
        let frames = (0..<2_000).map { Self.frame($0) }
        let sent = Self.sent(&some, frames)
        #expect(Set(sent) == Set(frames))
        let places = try sent.map { frame in try #require(frames.firstIndex(of: frame)) }
        for index in places.indices.dropFirst() { #expect(places[index] >= places[index - 1] - 1) }
        #expect(places != places.sorted())
    }

    @Test("a frame that waits to be overtaken comes before a close")
    func heldBeforeClose() throws {
        var faults = try self.connection("reorder=1", "close=1001@5s")
        #expect(faults.frameWritten(Self.frame(1), now: 101 * Self.second) == .texts([]))
        #expect(
            faults.timeReached(now: 105 * Self.second)
                == [.sendText(Self.frame(1)), .close(code: 1001, reason: "")]
        )
        #expect(faults.takeHeld().isEmpty)
    }

    @Test("garbage comes beside the frames, in valid UTF-8, and the same for the same seed")
    func garbage() throws {
        let frames = (0..<500).map { Self.frame($0) }
        var first = try self.connection("garbage=1", seed: 9)
        var second = try self.connection("garbage=1", seed: 9)
        let sent = Self.sent(&first, frames)
        #expect(sent == Self.sent(&second, frames))
        #expect(sent.count == 1_000)
        #expect(stride(from: 1, to: 1_000, by: 2).map { sent[$0] } == frames)
        #expect(sent.allSatisfy { String(validating: $0.readableBytesView, as: UTF8.self) != nil })
        #expect(Set(sent.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)).count > 50)
    }

    @Test("a huge message has exactly the configured size")
    func huge() throws {
        var faults = try self.connection("huge=1MB")
        guard case .sendText(let message) = faults.timeReached(now: 100 * Self.second).first else {
            Issue.record("there is no huge message")
            return
        }
        #expect(message.readableBytes == 1_000_000)
    }

    @Test("a frame is cut only from its moment on")
    func cutFrame() throws {
        var faults = try self.connection("cut-frame@2s")
        #expect(faults.frameWritten(Self.frame(1), now: 101 * Self.second) == .pass)
        #expect(faults.timeReached(now: 102 * Self.second) == [.cutNextFrame])
        #expect(faults.frameWritten(Self.frame(2), now: 103 * Self.second) == .cut)
    }

    @Test("a line is slow from the accept, or from its time to the span's end")
    func slow() throws {
        #expect(try self.connection("slow=1kB/s").initialRate == 1_000)
        var faults = try self.connection("slow=1kB/s@5s-10s")
        #expect(faults.initialRate == nil)
        #expect(faults.timeReached(now: 200 * Self.second) == [.limitRate(1_000), .limitRate(nil)])
    }

    @Test("what a service may send of any kind passes through all of them without a trap")
    func anyFrames() throws {
        var faults = try self.connection("duplicate=0.5", "reorder=0.5", "garbage=0.5", "stall=B", "slow=9B/s")
        var generator = SeededGenerator(seed: 20_261)
        for number in 0..<5_000 {
            var frame = Self.frame(number, symbols: ["A", "B", "é"])
            if number % 2 == 0 {
                let length = Int.random(in: 0...frame.readableBytes, using: &generator)
                frame = frame.getSlice(at: 0, length: length) ?? ByteBuffer()
            }
            if number % 3 == 0, frame.readableBytes > 0 {
                frame.setInteger(
                    UInt8.random(in: 0...255, using: &generator),
                    at: Int.random(in: 0..<frame.readableBytes, using: &generator)
                )
            }
            _ = faults.frameWritten(frame, now: Int64(number))
        }
    }
}
