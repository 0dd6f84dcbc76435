import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("The newest trades of a recording")
struct RecordedTailTests {
    private static let start: Int64 = 1_700_000_000_000_000_000
    private static let second: Int64 = 1_000_000_000

    private static func frame(_ prices: [Int]) -> String {
        let elements = prices.map { #"{"c":null,"p":\#($0),"s":"BINANCE:BTCUSDT","t":1723161255342,"v":1}"# }
        return #"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#
    }

    /// Returns a recording in which the trade of number n has the price n, with a frame of `size` trades each second.
    private static func recording(_ numbers: ClosedRange<Int>, size: Int = 3, epoch: UInt64? = 7) -> String {
        var recording = RecordingBuffer(RecordingHeader(program: "t", start: Self.start, epoch: epoch))
        var first = numbers.lowerBound
        var at: Int64 = 0
        while first <= numbers.upperBound {
            let last = min(first + size - 1, numbers.upperBound)
            recording.frame(
                ByteBuffer(string: Self.frame(Array(first...last))),
                at: at,
                numbers: RecordedNumbers(first: UInt64(first), count: last - first + 1)
            )
            recording.frame(ByteBuffer(string: #"{"type":"ping"}"#), at: at)
            first = last + 1
            at += Self.second
        }
        return String(buffer: recording.bytes)
    }

    private func tail(
        _ text: String,
        block: Int = .max,
        limit: Int = 1_000,
        notBefore: Int64 = 0,
        epoch: UInt64? = 7
    ) throws -> RecordedTrades? {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let map = try RecordingMap(path: try folder.write(text, to: "a.jsonl"))
        return try self.tail(map, block: block, limit: limit, notBefore: notBefore, epoch: epoch)
    }

    private func tail(
        _ map: RecordingMap,
        block: Int = .max,
        limit: Int = 1_000,
        notBefore: Int64 = 0,
        epoch: UInt64? = 7
    ) throws -> RecordedTrades? {
        let header = RecordingHeader(start: Self.start, epoch: epoch)
        var tail = RecordedTail(header: header, limit: limit, notBefore: notBefore)
        let reader = BackwardReader(map, before: try #require(map.length), block: block)
        while !tail.isComplete, let line = try reader.next() { tail.take(line) }
        return tail.found()
    }

    /// Asserts that every trade is at its number.
    private func check(_ found: RecordedTrades?, _ numbers: ClosedRange<UInt64>) throws {
        let found = try #require(found)
        #expect(found.epoch == 7)
        #expect(found.sequences == numbers.lowerBound..<numbers.upperBound + 1)
        #expect(found.trades.map { "\($0.price)" } == numbers.map { "\($0)" })
        #expect(found.received == found.received.sorted())
        #expect(found.trades.allSatisfy { found.symbols.name(of: $0.symbol) == "BINANCE:BTCUSDT" })
    }

    @Test("are found with their numbers and arrivals, in blocks of any size")
    func blocks() throws {
        let text = Self.recording(5...24)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let map = try RecordingMap(path: try folder.write(text, to: "a.jsonl"))
        for block in 1...text.utf8.count { try self.check(try self.tail(map, block: block), 5...24) }
        #expect(try self.tail(text)?.received.last == Self.start + 6 * Self.second)
    }

    @Test("are no more than are wanted, and no older")
    func limits() throws {
        let text = Self.recording(1...300)
        for block in [100, 1_000, .max] {
            try self.check(try self.tail(text, block: block, limit: 10), 291...300)
            let cut = Self.start + 90 * Self.second
            try self.check(try self.tail(text, block: block, notBefore: cut), 271...300)
        }
        #expect(try self.tail(text, notBefore: .max) == nil)
        #expect(try self.tail(text, limit: 0) == nil)
    }

    @Test("end on the way back where numbers are missing, or a line that cannot be read may have had some")
    func holes() throws {
        var lines = Self.recording(1...30).split(separator: "\n").map(String.init)
        // Every other line after the header is a frame; this one has the trades 13 to 15.
        let wrong = lines[9].replacing(#""trades":3"#, with: #""trades":4"#)
        for damage in [
            "", #"{"n":9,"wall":1,"mono":1,"frame":"x"#, wrong, "\(wrong.dropLast(LineSeal.length))}".sealed,
        ] {
            lines[9] = damage
            let text = lines.joined(separator: "\n") + "\n"
            for block in [50, 700, .max] { try self.check(try self.tail(text, block: block), 16...30) }
        }
    }

    @Test("are all there before a last line that is torn, wherever it is cut")
    func torn() throws {
        let whole = Self.recording(1...6)
        let last = Self.recording(7...9).split(separator: "\n")[1]
        for length in 1..<last.utf8.count {
            let text = whole + last.prefix(length)
            for block in [64, .max] { try self.check(try self.tail(text, block: block), 1...6) }
        }
    }

    @Test("leave out those of a frame that are not on the tape")
    func leftOut() throws {
        var recording = RecordingBuffer(RecordingHeader(start: Self.start, epoch: 7))
        recording.frame(
            ByteBuffer(string: Self.frame([90, 1, 91, 2])),
            at: 0,
            numbers: RecordedNumbers(first: 1, count: 2, leftOut: [0, 2])
        )
        try self.check(try self.tail(String(buffer: recording.bytes)), 1...2)
    }

    @Test("are none where the recording has no numbers")
    func plain() throws {
        let text = #"{"at":1,"frame":"{\"type\":\"ping\"}"}"# + "\n"
        #expect(try self.tail(text) == nil)
        #expect(try self.tail("") == nil)
        #expect(try self.tail(Self.recording(1...9, epoch: nil), epoch: nil) == nil)
    }

    @Test("numbers that cannot be are none")
    func hostile() throws {
        let frame = #""frame":"{\"type\":\"ping\"}""#
        for numbers in [
            #""seq":18446744073709551615,"trades":1"#, #""seq":9223372036854775807,"trades":1"#,
            #""seq":1,"trades":4294967296"#, #""seq":-1,"trades":1"#, #""seq":1,"trades":-1"#, #""seq":1"#,
            #""trades":1"#,
        ] {
            let text = "{\"at\":1,\(numbers),\(frame)}\n"
            var reader = RecordingParser()
            reader.feed(ByteBuffer(string: text))
            reader.finish()
            guard case .frame(let read)? = reader.nextEvent() else {
                Issue.record("\(numbers)")
                continue
            }
            #expect(read.numbers == nil)
        }
        for places in ["[1,1]", "[2,1]", "[-1]", "[1.5]", "[1"] {
            var reader = RecordingParser()
            reader.feed(ByteBuffer(string: "{\"at\":1,\"seq\":1,\"trades\":1,\"leftOut\":\(places),\(frame)}\n"))
            guard case .damaged? = reader.nextEvent() else {
                Issue.record("\(places)")
                continue
            }
        }
        // More trades left out than the frame has.
        var recording = RecordingBuffer(RecordingHeader(start: Self.start, epoch: 7))
        let tooMany = RecordedNumbers(first: 1, count: 0, leftOut: [7])
        recording.frame(ByteBuffer(string: Self.frame([1])), at: 1, numbers: tooMany)
        #expect(try self.tail(String(buffer: recording.bytes)) == nil)
    }
}
