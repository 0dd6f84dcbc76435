import Glibc
import Market
import NIOConcurrencyHelpers
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire

@Suite("The recorder on a disk that fails")
struct RecordingFaultTests {
    private static let frame = ByteBuffer(
        string: #"{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02}],"type":"trade"}"#
    )
    private static let millisecond: Int64 = 1_000_000
    private static let day: Int64 = 86_400_000_000_000

    private func writer(
        _ disk: FaultyDisk,
        start: Int64 = 1_767_225_600_000_000_000,
        _ change: (inout RecorderSettings) -> Void = { _ in }
    ) throws -> RecordingWriter {
        var settings = RecorderSettings()
        change(&settings)
        return try RecordingWriter(
            names: SegmentNames(first: "a.jsonl"),
            header: RecordingHeader(
                program: "test",
                symbols: ["A"],
                start: start,
                epoch: 7,
                source: "live"
            ),
            monotonic: 0,
            settings: settings,
            disk: disk
        )
    }

    private func append(_ writer: inout RecordingWriter, _ number: Int, wall: Int64, monotonic: Int64) {
        writer.append(
            frame: Self.frame,
            of: .finnhub,
            received: wall,
            monotonic: monotonic,
            numbers: RecordedNumbers(first: UInt64(number), count: 1),
            epoch: 7
        )
    }

    private func read(_ recorder: Recorder, _ number: Int) {
        recorder.read(
            TapeBatch(
                epoch: 7,
                firstSequence: UInt64(number),
                received: Int64(number) * Self.millisecond,
                receivedMonotonic: Int64(number) * Self.millisecond,
                trades: [],
                frames: [
                    TapeBatch.Frame(
                        bytes: ByteBuffer(bytes: Self.frame.readableBytesView),
                        trades: 0..<1,
                        isWhole: true
                    )
                ],
                symbols: SymbolTable()
            )
        )
    }

    private func check(_ bytes: [UInt8]) -> RecordingFindings {
        var reader = RecordingParser()
        var check = RecordingCheck()
        reader.feed(ByteBuffer(bytes: bytes))
        reader.finish()
        while let line = reader.nextLine() { check.take(line) }
        return check.findings
    }

    /// Waits for another thread's effect.
    private func wait(_ condition: () -> Bool) async throws {
        for _ in 0..<6_000 * Patience.factor {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("it has not happened in \(30 * Patience.factor) s")
    }

    @Test("says how long the newest file is, and that nothing is recorded while the disk is full or hangs")
    func progress() throws {
        let disk = FaultyDisk()
        var settings = RecorderSettings()
        settings.compresses = false
        settings.maximumWaitingBytes = 600
        let recorder = try Recorder(
            path: "a.jsonl",
            symbols: [],
            started: 0,
            program: "test",
            epoch: 7,
            dialect: .finnhub,
            settings: settings,
            clock: RecorderClock(wall: { 5_000_000 }, monotonic: { 0 }),
            disk: disk,
            isByHand: true,
            printError: { _ in }
        )
        func expect(isTaken: Bool, _ place: SourceLocation = #_sourceLocation) {
            let length = UInt64(disk.content("a.jsonl").count)
            let written = recorder.written
            #expect(written?.path == "a.jsonl" && written?.bytes == length, sourceLocation: place)
            #expect(written?.isTaken == isTaken, sourceLocation: place)
        }
        expect(isTaken: true)
        self.read(recorder, 1)
        recorder.drain()
        expect(isTaken: true)
        let used = disk.state.withLockedValue { $0.used }
        #expect(used > 100)
        disk.state.withLockedValue { $0.capacity = used }
        self.read(recorder, 2)
        recorder.drain()
        expect(isTaken: false)
        disk.state.withLockedValue { $0.capacity = .max }
        self.read(recorder, 3)
        recorder.drain()
        expect(isTaken: true)
        // As while the disk hangs: more waits than may.
        for number in 4...9 { self.read(recorder, number) }
        expect(isTaken: false)
        recorder.drain()
        self.read(recorder, 10)
        recorder.drain()
        expect(isTaken: true)
        _ = recorder.close()
        #expect(recorder.written == nil)
    }

    @Test("a power cut at any moment costs the frames of the last second, and none before it")
    func powerCut() throws {
        let disk = FaultyDisk()
        var writer = try self.writer(disk) { $0.segmentBytes = 60_000 }
        let start: Int64 = 1_767_225_600_000_000_000
        var arrivals: [Int64] = []
        // A frame every 3 ms; the writer flushes every 50 ms.
        for now in stride(from: 0, to: 6_000 * Self.millisecond, by: Int(Self.millisecond)) {
            if now % (3 * Self.millisecond) == 0 {
                arrivals.append(now)
                self.append(&writer, arrivals.count, wall: start + now, monotonic: now)
            }
            if now % (50 * Self.millisecond) == 0 { writer.flush(now: now) }
            if let deadline = writer.syncDeadline, deadline <= now { writer.sync(now: now) }
            guard now % (197 * Self.millisecond) == 0 else { continue }
            // Ordered by number: in the alphabet the first name, which has no number, would be last.
            let names = (1...writer.segments).map { SegmentNames(first: "a.jsonl").name($0) }
            let survivors = disk.survivors()
            #expect(Set(survivors.keys) == Set(names))
            var kept = 0
            for name in names {
                let found = self.check(survivors[name] ?? [])
                kept += found.frames
                #expect(found.isIntact && found.tornAt == nil)
                #expect(name == names.last || found.isEnded)
            }
            let expected = arrivals.count(where: { $0 <= now - 1_000 * Self.millisecond })
            #expect(kept >= expected, "at \(now / Self.millisecond) ms")
        }
        #expect(disk.survivors().count > 5)
    }

    @Test("a full disk costs frames, which are counted in the file, and recording continues when there is space")
    func full() throws {
        let disk = FaultyDisk()
        var writer = try self.writer(disk)
        var number = 0
        func record(_ count: Int) {
            for _ in 0..<count {
                number += 1
                let now = Int64(number) * Self.millisecond
                self.append(&writer, number, wall: 1_767_225_600_000_000_000 + now, monotonic: now)
                if number.isMultiple(of: 7) { writer.flush(now: now) }
            }
        }
        record(100)
        disk.state.withLockedValue { $0.capacity = $0.used + 5_000 }
        record(500)
        let problem = writer.takeProblem()
        #expect(problem == "No space left on device" && writer.failed > 0)
        disk.state.withLockedValue { $0.capacity = .max }
        record(100)
        let later = writer.takeProblem()
        #expect(later == nil)
        writer.close(wall: 1_767_225_600_000_000_000, monotonic: 1_000 * Self.millisecond)
        let found = self.check(disk.content("a.jsonl"))
        #expect(found.isIntact && found.isEnded && found.tornAt == nil)
        #expect(found.frames == Int(writer.frames) && found.droppedFrames == writer.failed)
        #expect(writer.frames + writer.failed == 700)
        let hole = try #require(found.holes.last)
        #expect(hole.gap.reason.contains("missing in this recording: No space left on device"))
        #expect(hole.gap.to > hole.gap.from)
    }

    @Test("where a disk cannot even truncate a partial line, that line is damaged and no other")
    func torn() throws {
        let disk = FaultyDisk()
        var writer = try self.writer(disk)
        disk.state.withLockedValue { state in
            state.truncates = false
            state.capacity = state.used + 150
        }
        self.append(&writer, 1, wall: 0, monotonic: 1)
        self.append(&writer, 2, wall: 0, monotonic: 1)
        writer.flush(now: 1)
        disk.state.withLockedValue { $0.capacity = .max }
        self.append(&writer, 3, wall: 0, monotonic: 2)
        writer.close(wall: 0, monotonic: 3)
        let found = self.check(disk.content("a.jsonl"))
        #expect(found.damagedLines == 1 && found.frames == 1 && found.droppedFrames == 2 && found.isEnded)
    }

    @Test("a stalled disk never delays the feed; frames without space are reported, and recording continues")
    func stalled() async throws {
        let disk = FaultyDisk()
        let gate = ConditionLock(value: 0)
        let complaints = NIOLockedValueBox<[String]>([])
        let recorder = try Recorder(on: disk, epoch: 7) {
            $0.maximumWaitingBytes = 200_000
            $0.flushInterval = Self.millisecond
        } printError: { errorText in
            complaints.withLockedValue { $0.append(errorText) }
        }
        let isStuck = NIOLockedValueBox(false)
        disk.state.withLockedValue {
            $0.beforeWrite = {
                isStuck.withLockedValue { $0 = true }
                gate.lock(whenValue: 1)
                gate.unlock()
            }
        }
        self.read(recorder, 1)
        try await self.wait { isStuck.withLockedValue { $0 } }
        // The disk is stalled; every call returns nevertheless.
        for number in 2...5_000 { self.read(recorder, number) }
        #expect(recorder.dropped > 1_000)
        // Reported once, while the disk is still stalled.
        try await self.wait { !complaints.withLockedValue { $0.isEmpty } }
        #expect(complaints.withLockedValue { $0.filter { $0.contains("the disk is too slow") }.count } == 1)
        gate.lock()
        gate.unlock(withValue: 1)
        try await self.wait { disk.content("a.jsonl").count > 100_000 }
        self.read(recorder, 5_001)
        let report = await recorder.finishPatiently()
        let found = self.check(disk.content("a.jsonl"))
        #expect(found.isIntact && found.isEnded)
        #expect(found.frames == Int(report.frames) && found.droppedFrames == report.dropped)
        #expect(report.frames + report.dropped == 5_001)
        #expect(found.holes.contains { $0.gap.reason.hasSuffix("the disk was too slow") })
        #expect(found.trades == Int(report.frames))
        #expect(complaints.withLockedValue { $0.count } == 1)
    }

    @Test("a stop does not wait for a disk that hangs, and reports that not all is written", .timeLimit(.minutes(5)))
    func hangs() async throws {
        let disk = FaultyDisk()
        let gate = ConditionLock(value: 0)
        let recorder = try Recorder(on: disk, epoch: 7)
        disk.state.withLockedValue {
            $0.beforeWrite = {
                gate.lock(whenValue: 1)
                gate.unlock()
            }
        }
        self.read(recorder, 1)
        let hanging = await recorder.finish(within: .milliseconds(50))
        #expect(!hanging.isWhole)
        gate.lock()
        gate.unlock(withValue: 1)
        let report = await recorder.finishPatiently()
        #expect(report.isWhole && report.frames == 1 && self.check(disk.content("a.jsonl")).isEnded)
    }

    @Test("a stop waits longer than its limit for a disk that is slow but takes the frames")
    func slow() async throws {
        let disk = FaultyDisk()
        let gate = ConditionLock(value: 0)
        let writes = NIOLockedValueBox(0)
        // A file for each frame, so that each frame is a write.
        let recorder = try Recorder(on: disk, epoch: 7) { $0.segmentBytes = 1 }
        disk.state.withLockedValue {
            $0.beforeWrite = {
                let number = writes.withLockedValue { writes in
                    writes += 1
                    return writes
                }
                gate.lock(whenValue: 1)
                gate.unlock()
                if number <= 16 { usleep(50_000 * UInt32(Patience.factor)) }
            }
        }
        self.read(recorder, 1)
        try await self.wait { writes.withLockedValue { $0 } > 0 }
        for number in 2...20 { self.read(recorder, number) }
        gate.lock()
        gate.unlock(withValue: 1)
        let report = await recorder.finish(within: .milliseconds(500) * Patience.factor)
        #expect(report.isWhole && report.frames == 20)
    }

    @Test("a disk that takes 5 s for a sync delays no frame, and loses none that fits into memory")
    func stalledSync() async throws {
        let disk = FaultyDisk()
        let gate = ConditionLock(value: 0)
        let recorder = try Recorder(on: disk, epoch: 7) {
            $0.flushInterval = Self.millisecond
            $0.syncInterval = 2 * Self.millisecond
        }
        let isStuck = NIOLockedValueBox(false)
        disk.state.withLockedValue {
            $0.beforeSync = {
                isStuck.withLockedValue { $0 = true }
                gate.lock(whenValue: 1)
                gate.unlock()
            }
        }
        self.read(recorder, 1)
        try await self.wait { isStuck.withLockedValue { $0 } }
        for number in 2...5_000 { self.read(recorder, number) }
        let before = self.check(disk.content("a.jsonl")).frames
        gate.lock()
        gate.unlock(withValue: 1)
        let report = await recorder.finishPatiently()
        let found = self.check(disk.content("a.jsonl"))
        #expect(before < 5_000 && report.frames == 5_000 && report.dropped == 0 && report.doubted == 0)
        #expect(found.isIntact && found.isEnded && found.frames == 5_000 && found.events["unsynced"] == nil)
    }

    @Test("a failed sync is reported, counted and retried, and the file names the frames in doubt")
    func failedSync() throws {
        let disk = FaultyDisk()
        var writer = try self.writer(disk)
        let start: Int64 = 1_767_225_600_000_000_000
        func record(_ numbers: ClosedRange<Int>) {
            for number in numbers {
                let now = Int64(number) * Self.millisecond
                self.append(&writer, number, wall: start + now, monotonic: now)
            }
            writer.flush(now: Int64(numbers.upperBound) * Self.millisecond)
        }
        record(1...10)
        writer.sync(now: 10 * Self.millisecond)
        disk.state.withLockedValue { $0.syncs = false }
        record(11...30)
        writer.sync(now: 30 * Self.millisecond)
        let problems = [writer.takeSyncProblem(), writer.takeSyncProblem(), writer.takeProblem()]
        #expect(problems == ["Input/output error", nil, nil])
        #expect(writer.doubted == 20 && writer.failed == 0)
        // The sync is retried without a call, and the failure is not reported again within the minute.
        #expect(writer.syncDeadline == 530 * Self.millisecond)
        record(31...35)
        writer.sync(now: 530 * Self.millisecond)
        let again = writer.takeSyncProblem()
        #expect(again == nil && writer.doubted == 25)
        #expect(self.check(disk.content("a.jsonl")).events["unsynced"] == nil)
        // The disk does not take the line about the frames in doubt, which a later line then names.
        disk.state.withLockedValue { state in
            state.syncs = true
            state.capacity = state.used
        }
        writer.sync(now: 1_030 * Self.millisecond)
        disk.state.withLockedValue { $0.capacity = .max }
        record(36...36)
        writer.sync(now: 1_530 * Self.millisecond)
        writer.sync(now: 2_030 * Self.millisecond)
        var note: RecordedNote?
        var reader = RecordingParser()
        reader.feed(ByteBuffer(bytes: disk.survivors()["a.jsonl"] ?? []))
        reader.finish()
        while let line = reader.nextLine() {
            if case .note(let found) = line.content, found.kind == .unsynced { note = found }
        }
        #expect(note?.frames == 25 && note?.reason == "Input/output error")
        #expect(note?.from == start + 11 * Self.millisecond && note?.to == start + 35 * Self.millisecond)
        writer.close(wall: start + 3_000 * Self.millisecond, monotonic: 3_000 * Self.millisecond)
        let found = self.check(disk.content("a.jsonl"))
        #expect(found.isIntact && found.isEnded && found.frames == 36 && found.events["unsynced"] == 1)
    }

    @Test("frames in doubt at the end of a file are named in the next one")
    func failedSyncAtRotation() throws {
        let disk = FaultyDisk()
        var writer = try self.writer(disk) { $0.segmentBytes = 5_000 }
        disk.state.withLockedValue { $0.syncs = false }
        var number = 0
        while writer.segments == 1 {
            number += 1
            self.append(&writer, number, wall: Int64(number) * Self.millisecond, monotonic: Int64(number))
        }
        disk.state.withLockedValue { $0.syncs = true }
        writer.close(wall: 0, monotonic: 1_000)
        #expect(self.check(disk.content("a.jsonl")).events["unsynced"] == nil)
        #expect(self.check(disk.content("a-0002.jsonl")).events["unsynced"] == 1)
        #expect(writer.doubted == UInt64(number - 1))
    }

    @Test("a new file begins at midnight UTC and at the size limit, and each names its neighbours")
    func rotates() throws {
        let disk = FaultyDisk()
        let midnight = 20_454 * Self.day
        var writer = try self.writer(disk, start: midnight - 10 * Self.millisecond) { $0.segmentBytes = 50_000 }
        for number in 1...20 {
            let now = Int64(number) * Self.millisecond
            self.append(&writer, number, wall: midnight + now - 10 * Self.millisecond, monotonic: now)
        }
        let completed = writer.takeCompleted()
        #expect(writer.segments == 2 && completed == ["a.jsonl"])
        // The clock is set back over midnight, which is not a new day.
        self.append(&writer, 21, wall: midnight - Self.millisecond, monotonic: 21 * Self.millisecond)
        #expect(writer.segments == 2)
        for number in 22...1_000 {
            self.append(&writer, number, wall: midnight + Self.millisecond, monotonic: Int64(number) * Self.millisecond)
        }
        writer.close(wall: midnight, monotonic: 2_000 * Self.millisecond)
        let names = (1...writer.segments).map { SegmentNames(first: "a.jsonl").name($0) }
        #expect(names.count > 4 && Set(disk.survivors().keys) == Set(names))
        var frames = 0
        var next: UInt64 = 1
        for (place, name) in names.enumerated() {
            let content = disk.content(name)
            let found = self.check(content)
            #expect(found.isIntact && found.isEnded && content.count < 120_000)
            #expect(found.header?.segment == place + 1 && found.header?.first == next)
            #expect(found.header?.previous == (place > 0 ? names[place - 1] : nil))
            next = (found.lastNumber ?? 0) + 1
            frames += found.frames
            let last = String(decoding: content.split(separator: 0x0A).last ?? [], as: UTF8.self)
            #expect(last.contains(#""event":"end""#))
            if place + 1 < names.count { #expect(last.contains(#""next":"\#(names[place + 1])""#)) }
            #expect(disk.state.withLockedValue { $0.files[name]?.isClosed } == true)
        }
        #expect(frames == 1_000)
    }

    @Test("where the next file cannot be made the old one continues, and the next is tried again")
    func noNextFile() throws {
        let disk = FaultyDisk()
        var writer = try self.writer(disk) { $0.segmentBytes = 10_000 }
        disk.state.withLockedValue { $0.makesFiles = false }
        for number in 1...200 { self.append(&writer, number, wall: 0, monotonic: Int64(number)) }
        writer.flush(now: 200)
        // No frames are missing, so that no loss is reported; the problem is reported once.
        let problem = writer.takeProblem()
        let rotation = [writer.takeRotationProblem(), writer.takeRotationProblem()]
        #expect(writer.segments == 1 && problem == nil && rotation == ["No space left on device", nil])
        #expect(self.check(disk.content("a.jsonl")).frames == 200)
        disk.state.withLockedValue { $0.makesFiles = true }
        self.append(&writer, 201, wall: 0, monotonic: 11_000 * Self.millisecond)
        writer.close(wall: 0, monotonic: 11_001 * Self.millisecond)
        #expect(writer.segments == 2 && self.check(disk.content("a-0002.jsonl")).frames == 1)
    }
}
