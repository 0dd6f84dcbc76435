import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("The kept frames")
struct FrameRingTests {
    private let a = "A:A"
    private let b = "B:B"

    private func texts(_ ring: FrameRing, after sequence: UInt64, atMost limit: Int = 1 << 20) -> [String] {
        ring.batches(after: sequence, about: limit).flatMap { $0.frames.map { String(buffer: $0.bytes) } }
    }

    private func at(_ sequence: UInt64) -> TapePosition { TapePosition(epoch: 7, sequence: sequence) }

    @Test("are found by number, whole, from the middle of a batch as well")
    func found() {
        var source = BatchSource()
        var ring = FrameRing(epoch: 7, next: 1)
        let frames = [
            Frames.trade(self.a, "1"), Frames.trades(Frames.element(self.a, "2"), Frames.element(self.b, "3")),
            Frames.trade(self.b, "4"), Frames.trade(self.a, "5"),
        ]
        ring.append(source.batch([frames[0], frames[1]]))
        ring.append(source.batch([#"{"type":"ping"}"#, frames[2]]))
        ring.append(source.batch([frames[3]]))
        for (sequence, first) in [(0, 0), (1, 1), (3, 2), (4, 3), (5, 4)] as [(UInt64, Int)] {
            #expect(self.texts(ring, after: sequence) == Array(frames[first...]))
            #expect(ring.isComplete(after: self.at(sequence), of: [self.a, self.b]))
        }
        #expect(self.texts(ring, after: 0, atMost: 1) == Array(frames[..<2]))
        #expect(!ring.isComplete(after: self.at(6), of: [self.a]))
        #expect(!ring.isComplete(after: TapePosition(epoch: 6, sequence: 1), of: [self.a]))
    }

    @Test("are bounded in bytes and in age, and a symbol is complete while none of its own frames were dropped")
    func bounded() {
        var source = BatchSource()
        var ring = FrameRing(epoch: 7, next: 1, maximumBytes: 20_000)
        ring.append(source.batch([Frames.trade(self.b, "1")]))
        for number in 2...100 { ring.append(source.batch([Frames.trade(self.a, "\(number)")])) }
        let kept = self.texts(ring, after: 0)
        #expect((5...40).contains(kept.count) && kept.last == Frames.trade(self.a, "100"))
        let oldest = 100 - UInt64(kept.count)
        #expect(ring.before == oldest)
        #expect(ring.isComplete(after: self.at(oldest), of: [self.a]))
        #expect(!ring.isComplete(after: self.at(oldest - 1), of: [self.a]))
        #expect(ring.isComplete(after: self.at(1), of: [self.b]) && !ring.isComplete(after: self.at(0), of: [self.b]))
        ring.expire(now: .max / 2)
        #expect(self.texts(ring, after: 0) == [] && ring.before == 100)
        #expect(
            ring.isComplete(after: self.at(100), of: [self.a]) && !ring.isComplete(after: self.at(99), of: [self.a])
        )
    }

    @Test("a symbol stays complete when its filled trades are dropped, which no client that resumes gets")
    func filled() {
        var source = BatchSource()
        var ring = FrameRing(epoch: 7, next: 1)
        ring.append(source.batch([Frames.trade(self.a, "1")]))
        var batch = source.batch([Frames.trade(self.a, "9"), Frames.trade(self.a, "8")])
        for place in batch.trades.indices { batch.trades[place].marks = [.filled] }
        ring.append(batch)
        ring.expire(now: .max / 2)
        #expect(ring.before == 3)
        #expect(ring.isComplete(after: self.at(1), of: [self.a]))
        #expect(!ring.isComplete(after: self.at(0), of: [self.a]))
    }

    @Test("are not complete across a gap of the upstream, the end of a subscription or trades that never came")
    func interrupted() {
        var source = BatchSource()
        var ring = FrameRing(epoch: 7, next: 1)
        ring.append(source.batch([Frames.trade(self.a, "1"), Frames.trade(self.b, "2")]))
        ring.interrupted(self.b)
        #expect(ring.isComplete(after: self.at(2), of: [self.a]) && !ring.isComplete(after: self.at(2), of: [self.b]))
        ring.append(source.batch([Frames.trade(self.a, "3")]))
        #expect(ring.isComplete(after: self.at(3), of: [self.a, self.b]))
        ring.interrupted(nil)
        #expect(!ring.isComplete(after: self.at(3), of: [self.a]))
        ring.append(source.batch([Frames.trade(self.a, "4")]))
        #expect(ring.isComplete(after: self.at(4), of: [self.a]))
        _ = source.batch([Frames.trade(self.a, "5")])
        ring.append(source.batch([Frames.trade(self.a, "6")]))
        #expect(!ring.isComplete(after: self.at(4), of: [self.a]) && ring.isComplete(after: self.at(6), of: [self.a]))
    }
}
