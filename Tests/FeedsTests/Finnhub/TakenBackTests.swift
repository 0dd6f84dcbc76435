import Ingest
import Market
import NIOConcurrencyHelpers
import NIOCore
import Testing
import Wire
@testable import Feeds

@Suite("The memory of reads")
struct TakenBackTests {
    /// A reader that keeps every batch, like a queue that is never emptied.
    private final class BatchCollector: TapeReader {
        let batches = NIOLockedValueBox<[TapeBatch]>([])
        let keeps: Bool
        let capacities = NIOLockedValueBox<[Int]>([])

        init(keeps: Bool) { self.keeps = keeps }

        func read(_ batch: TapeBatch) {
            self.capacities.withLockedValue { $0.append(batch.trades.capacity + batch.frames.capacity) }
            if self.keeps { self.batches.withLockedValue { $0.append(batch) } }
        }
        func statusChanged(_ status: FeedStatus) {}
        func gapFound(_ gap: Gap) {}
    }

    @Test("the memory of a burst is released two reads later, even if batches are kept", arguments: [false, true])
    func burst(keeps: Bool) {
        let reader = BatchCollector(keeps: keeps)
        let writer = FinnhubTape(epoch: 1, readers: [reader])
        var number = 0
        func read(frames: Int, trades: Int) {
            for _ in 0..<frames {
                number += 1
                let frame = FeedBench.trade("A", number)
                let all = String(frame.dropFirst(9).dropLast(17))
                let text =
                    "{\"data\":[" + Array(repeating: all, count: trades).joined(separator: ",")
                    + "],\"type\":\"trade\"}"
                _ = writer.take(ByteBuffer(string: text), now: Int64(number))
            }
            writer.endRead(Moment(monotonic: Int64(number), wall: Int64(number)))
        }
        read(frames: 1, trades: 2)
        read(frames: 500, trades: 10)
        for _ in 0..<20 { read(frames: 1, trades: 2) }
        let capacities = reader.capacities.withLockedValue { $0 }
        #expect(capacities.count == 22)
        #expect(capacities[1] >= 5_500)
        // The read after the burst still has its arrays.
        #expect(capacities.dropFirst(3).allSatisfy { $0 < 100 }, "\(capacities)")
    }
}
