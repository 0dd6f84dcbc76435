import Market
import NIOConcurrencyHelpers
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@testable import Sinks

@Suite("What waits for the recorder's disk")
struct RecorderQueueTests {
    private static let moment = RecorderQueue.Moment(wall: 1, monotonic: 1)
    private static let frame = ByteBuffer(repeating: 0x20, count: 100)

    private func append(to queue: inout RecorderQueue, atMost limit: Int = 1_000) -> Bool {
        queue.append(Self.frame, Self.moment, RecordedNumbers(first: 1, count: 1), epoch: 1, atMost: limit)
    }

    @Test("what is on its way to the disk takes room until it is written")
    func bounds() throws {
        var queue = RecorderQueue()
        var count = 0
        while self.append(to: &queue) { count += 1 }
        #expect(count == 1_000 / (100 + RecorderQueue.entryBytes))
        let first = queue.take()
        var taken = try #require(first)
        #expect(taken.entries.count == count && queue.isEmpty)
        let whileWritten = self.append(to: &queue)
        #expect(!whileWritten)
        taken.clear()
        queue.takeBack(taken)
        let answers = (0...count).map { _ in self.append(to: &queue) }
        #expect(answers == Array(repeating: true, count: count) + [false])
    }

    @Test("the writer is woken for the first after a pause, and not again while it looks by itself")
    func rings() {
        var queue = RecorderQueue()
        func came() -> Bool {
            _ = self.append(to: &queue)
            return queue.wakes()
        }
        var answers = [queue.await(), came(), came()]
        #expect(answers == [true, true, false])
        // Something waits: it must not lie down.
        answers = [queue.await()]
        _ = queue.take()
        answers.append(came())
        _ = queue.take()
        answers += [queue.await(), queue.take() == nil, came()]
        #expect(answers == [false, false, true, true, true])
    }

    /// Waits for what another thread does.
    private func wait(_ condition: () -> Bool) async throws {
        for _ in 0..<(6_000 * Patience.factor) {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("it has not happened in 30 s")
    }

    @Test("frames before and behind a pause are written and synced without anybody asking")
    func pauses() async throws {
        let disk = FaultyDisk()
        var settings = RecorderSettings()
        settings.flushInterval = 2_000_000
        settings.syncInterval = 4_000_000
        settings.compresses = false
        let recorder = try Recorder(
            path: "a.jsonl",
            symbols: [],
            started: 0,
            program: "test",
            epoch: 1,
            settings: settings,
            clock: RecorderClock(wall: { 5_000_000 }, monotonic: { 0 }),
            disk: disk,
            complain: { Issue.record("\($0)") }
        )
        for number in 1...3 {
            let batch = TapeBatch(
                epoch: 1,
                firstSequence: UInt64(number),
                received: Int64(number) * 1_000_000,
                receivedMonotonic: Int64(number) * 1_000_000,
                trades: [],
                frames: [TapeBatch.Frame(bytes: ByteBuffer(string: "{}"), trades: 0..<0, isWhole: true)],
                symbols: SymbolTable()
            )
            recorder.read(batch)
            // The header, and a line for each.
            try await self.wait { (disk.survivors()["a.jsonl"] ?? []).count { $0 == 0x0A } == number + 1 }
            // The pause is over only when the writer waits to be woken.
            try await self.wait { recorder.queue.withLockedValue { $0.isAwaited } }
        }
        #expect(await recorder.finish().frames == 3)
    }
}
