import Ingest
import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

@Suite("The classification of arrivals")
struct ArrivalClassifierTests {
    private static let start: Int64 = 1_795_239_062_000_000_000

    /// Reads one frame of trades at these ms of the exchange's clock since the start; returns the batch.
    private final class Reader: TapeReader, @unchecked Sendable {
        var batches: [TapeBatch] = []
        func read(_ batch: TapeBatch) { self.batches.append(batch) }
        func statusChanged(_ status: FeedStatus) {}
        func gapFound(_ gap: Gap) {}
    }

    private static func frame(_ milliseconds: [Int]) -> ByteBuffer {
        let trades = milliseconds.map {
            #"{"c":null,"p":\#($0 % 977 + 1),"s":"A","t":\#(Int(Self.start) / 1_000_000 + $0),"v":1}"#
        }
        return ByteBuffer(string: #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#)
    }

    private static func read(_ writer: FinnhubTape, _ milliseconds: [Int], at received: Int) {
        let now = Int64(received) * 1_000_000
        _ = writer.take(Self.frame(milliseconds), now: now)
        writer.endRead(Moment(monotonic: now, wall: Self.start + now))
    }

    @Test("marks a live trade that is ahead, leaves it unchanged, and reports the time as which it counts")
    func live() {
        let reader = Reader()
        let writer = FinnhubTape(epoch: 1, readers: [reader])
        Self.read(writer, [0], at: 80)
        Self.read(writer, [1_000, 61_500, 1_400], at: 1_480)
        Self.read(writer, [2_000], at: 2_080)
        let marks = reader.batches.map { $0.trades.map(\.marks) }
        #expect(marks == [[[]], [[], [.ahead], []], [[]]])
        #expect(reader.batches.map(\.aheadArrival) == [nil, Self.start + 1_480_000_000, nil])
        let batch = reader.batches[1]
        #expect(batch.trades[1].exchangeTime == Self.start + 61_500_000_000)
        #expect(batch.countedTrades.map(\.exchangeTime)[1] == Self.start + 1_480_000_000)
        #expect(batch.countedTrades[0] == batch.trades[0])
    }

    @Test("finds within 20 reads how far our clock is behind, and corrects for it")
    func clockOffset() {
        let reader = Reader()
        let writer = FinnhubTape(epoch: 1, readers: [reader])
        for step in 0..<40 { Self.read(writer, [30_000 + step * 1_000], at: step * 1_000 + 100) }
        #expect(reader.batches[19].clockOffset == 29_900_000_000)
        #expect(!reader.batches[10...].contains { $0.aheadArrival != nil })
        Self.read(writer, [90_000_000], at: 41_000)
        #expect(reader.batches.last?.aheadArrival == Self.start + 41_000_000_000 + 29_900_000_000)
    }

    @Test("in a replay uses the arrival that the player states for the next frame, and no clock")
    func replayed() {
        let reader = Reader()
        let marks = FrameMarks()
        let writer = FinnhubTape(epoch: 1, readers: [reader], isLive: false, marks: marks)
        writer.input.connectionOpened(port: 7, now: Moment(monotonic: 0, wall: 0))
        for step in 0..<30 { Self.read(writer, [step], at: -9_000_000) }
        marks.post(.arrival(Self.start), after: 30, on: 7)
        Self.read(writer, [100, 5_001], at: 0)
        Self.read(writer, [200, 90_000], at: 1)
        #expect(reader.batches.suffix(2).map { $0.trades.map(\.marks) } == [[[], [.ahead]], [[], []]])
        #expect(reader.batches.suffix(2).map(\.aheadArrival) == [Self.start, nil])
        #expect(reader.batches.allSatisfy { $0.clockOffset == 0 })
        // A frame without trades consumes the mark.
        marks.post(.arrival(Self.start), after: 32, on: 7)
        _ = writer.take(ByteBuffer(string: #"{"type":"ping"}"#), now: 2)
        Self.read(writer, [300, 90_000], at: 3)
        #expect(reader.batches.last?.aheadArrival == nil)
    }
}
