import Dispatch
import Market
import NIOConcurrencyHelpers
import NIOCore
@testable import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("The recorder's queue")
struct RecorderQueueTests {
    private static let moment = Moment(monotonic: 1, wall: 1)
    private static let frame = ByteBuffer(repeating: 0x20, count: 100)

    private func append(to queue: inout RecorderQueue, atMost limit: Int = 1_000) -> Bool {
        queue.append(
            Self.frame,
            of: .finnhub,
            Self.moment,
            RecordedNumbers(first: 1, count: 1),
            epoch: 1,
            atMost: limit
        )
    }

    @Test("bytes being written take space until they are written")
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

    @Test("entries are written in parts, in order, and each part frees its space when it is written")
    func parts() throws {
        var queue = RecorderQueue()
        let limit = 10 << 20
        let frame = ByteBuffer(repeating: 0x20, count: 100_000)
        func append(_ number: UInt64) -> Bool {
            queue.append(
                frame,
                of: .finnhub,
                Self.moment,
                RecordedNumbers(first: number, count: 1),
                epoch: 1,
                atMost: limit
            )
        }
        var count: UInt64 = 0
        while append(count) { count += 1 }
        #expect(count == 104 && queue.bytes <= limit)
        var written: [UInt64] = []
        for _ in 0..<3 {
            let next = queue.take()
            var taken = try #require(next)
            #expect(taken.bytes < 1_200_000 && queue.isUrgent)
            let numbers = taken.entries.compactMap { entry -> UInt64? in
                if case .frame(_, _, _, let numbers, _) = entry { numbers.first } else { nil }
            }
            written += numbers
            // As many frames fit as were written, and none before.
            let isEarly = append(count)
            taken.clear()
            queue.takeBack(taken)
            let answers = (0...numbers.count).map { append(count + UInt64($0)) }
            #expect(!isEarly && answers == Array(repeating: true, count: numbers.count) + [false])
            count += UInt64(numbers.count)
        }
        while var taken = queue.take() {
            for entry in taken.entries {
                if case .frame(_, _, _, let numbers, _) = entry { written.append(numbers.first) }
            }
            taken.clear()
            queue.takeBack(taken)
        }
        #expect(written == Array(0..<count) && queue.isEmpty && queue.bytes == 0 && !queue.isUrgent)
    }

    @Test("after a stall recording resumes as soon as the disk has taken a part of the queue")
    func resumes() async throws {
        let disk = FaultyDisk()
        let permits = DispatchSemaphore(value: 0)
        let begun = NIOLockedValueBox(0)
        let complaints = NIOLockedValueBox(0)
        let recorder = try Recorder(on: disk, epoch: 1) {
            $0.maximumWaitingBytes = 4 << 20
            $0.flushInterval = 2_000_000
        } printError: { _ in
            complaints.withLockedValue { $0 += 1 }
        }
        disk.state.withLockedValue {
            $0.beforeWrite = {
                begun.withLockedValue { $0 += 1 }
                permits.wait()
            }
        }
        func read(_ numbers: ClosedRange<Int>) {
            for number in numbers {
                recorder.read(
                    TapeBatch(
                        epoch: 1,
                        firstSequence: UInt64(number),
                        received: Int64(number) * 1_000_000,
                        receivedMonotonic: Int64(number) * 1_000_000,
                        trades: [],
                        frames: [
                            TapeBatch.Frame(
                                bytes: ByteBuffer(repeating: 0x20, count: 100_000),
                                trades: 0..<1,
                                isWhole: true
                            )
                        ],
                        symbols: SymbolTable()
                    )
                )
            }
        }
        read(1...1)
        try await self.wait { begun.withLockedValue { $0 } == 1 }
        read(2...61)
        #expect(recorder.dropped == 20)
        // Each write takes a frame. The disk stalls again when half of the queue is written.
        for _ in 0..<20 { permits.signal() }
        try await self.wait { begun.withLockedValue { $0 } == 21 }
        read(62...71)
        #expect(recorder.dropped == 20)
        for _ in 0..<200 { permits.signal() }
        let report = await recorder.finishPatiently()
        #expect(report.frames == 51 && report.dropped == 20 && report.isWhole)
        try await self.wait { complaints.withLockedValue { $0 } >= 1 }
        var reader = RecordingParser()
        var check = RecordingCheck()
        reader.feed(ByteBuffer(bytes: disk.content("a.jsonl")))
        reader.finish()
        while let line = reader.nextLine() { check.take(line) }
        #expect(check.findings.isIntact && check.findings.isEnded && check.findings.frames == 51)
        #expect(check.findings.holes.map(\.dropped) == [20])
        #expect(check.findings.holes.first?.gap.from == 42_000_000 && check.findings.holes.first?.gap.to == 61_000_000)
    }

    @Test("the writer is woken for the first entry after a pause, and not again while it checks by itself")
    func rings() {
        var queue = RecorderQueue()
        func came() -> Bool {
            _ = self.append(to: &queue)
            return queue.wakes()
        }
        var answers = [queue.await(), came(), came()]
        #expect(answers == [true, true, false])
        // The queue is not empty: the writer must not sleep.
        answers = [queue.await()]
        _ = queue.take()
        answers.append(came())
        _ = queue.take()
        answers += [queue.await(), queue.take() == nil, came()]
        #expect(answers == [false, false, true, true, true])
    }

    /// Waits for another thread's effect.
    private func wait(_ condition: () -> Bool) async throws {
        for _ in 0..<(6_000 * Patience.factor) {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("it has not happened in 30 s")
    }

    @Test("frames before and after a pause are written and synced without another call")
    func pauses() async throws {
        let disk = FaultyDisk()
        let recorder = try Recorder(on: disk, epoch: 1) {
            $0.flushInterval = 2_000_000
            $0.syncInterval = 4_000_000
        }
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
            // The header, and a line for each frame.
            try await self.wait { (disk.survivors()["a.jsonl"] ?? []).count { $0 == 0x0A } == number + 1 }
            // The pause has begun only when the writer waits to be woken.
            try await self.wait { recorder.queue.withLockedValue { $0.isAwaited } }
        }
        #expect(await recorder.finishPatiently().frames == 3)
    }
}
