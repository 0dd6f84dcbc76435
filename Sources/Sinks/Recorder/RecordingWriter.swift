package import Market
package import NIOCore
package import Recordings
package import Wire

/// The files of a recording as they are written: lines go into a buffer, and from there to the newest file in whole lines.
///
/// A line is in the file wholly or not at all: after a write that the disk cut short, the file is cut back to its last
/// whole line. Lines are numbered as the file has them, without a hole, so that a hole is damage and what the disk did not
/// take is told in a line of its own. Belongs to one thread at a time; time comes as an argument.
package struct RecordingWriter: Sendable {
    /// Why a file cannot be made, in one line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// How long all must have gone well before a failure is news again, in nanoseconds: on a full disk a short line still
    /// finds room now and then.
    private static let quietInterval: Int64 = 60_000_000_000
    /// How long it must go well for a failure to be over, in nanoseconds.
    private static let recoveryTime: Int64 = 5_000_000_000
    /// How long it waits before it tries again to make the next file, in nanoseconds.
    private static let rotationRetry: Int64 = 10_000_000_000
    private static let bufferBytes = 64 << 10
    private static let day: Int64 = 86_400_000_000_000

    /// Frames that are not in the file where they should be.
    private struct Missing {
        var count: UInt64
        /// The arrivals of the first and the last of them, wall clock, ns since 1970.
        var from: Int64
        var to: Int64
        var reason: String
    }

    private let names: SegmentNames
    private let disk: any RecordingDisk
    private let segmentBytes: UInt64
    private let syncInterval: Int64
    /// What every file's header says; the rest is each file's own.
    private let header: RecordingHeader
    /// The newest file, its name's place, its beginning on both clocks, and its UTC day.
    private var output: any RecordingOutput
    private var place: Int
    package private(set) var path: String
    private var segment = 1
    private var origin: Int64
    private var segmentDay: Int64
    /// The header of the newest file, until the disk has it.
    private var unwritten: ByteBuffer?
    private var buffer = ByteBuffer()
    private var framesInBuffer: UInt64 = 0
    /// The number of the next line, and of the buffer's first.
    private var number: UInt64 = 1
    private var numberInFile: UInt64 = 1
    /// The newest line's time; the lines' times never go back.
    private var lastAt: Int64 = 0
    /// Since when written bytes may be missing from the disk itself, monotonic ns, and the frames that are concerned.
    private var unsyncedSince: Int64?
    private var unsynced = UnsyncedFrames()
    private var lastSyncFailure: Int64?
    private var untoldSync: String?
    /// When it last failed, and when it last failed or was too slow, monotonic ns; `nil` while all is well.
    private var lastFailure: Int64?
    private var lastTrouble: Int64?
    private var untold: String?
    /// Whether somebody was told that it fails, and not yet that it does no more.
    private var isRecoveryDue = false
    private var hasRecovered = false
    private var retryRotationAt: Int64 = .min
    /// Whether the file may end inside a line, which a disk that failed left there.
    private var mustEndLine = false
    private var isCuttable = true
    /// What the file must tell before its next line, and whether the buffer begins with that.
    private var missing: Missing?
    private var tellsMissing = false
    /// The arrival of the buffer's first frame, if there is one, and of the newest.
    private var bufferBegan: Int64?
    private var newest: Int64 = 0
    /// What the next trade would be numbered.
    private var nextSequence: UInt64 = 0
    private var epoch: UInt64 = 0
    private var isClosed = false
    /// Bytes of the newest file that the disk took.
    private var bytesInFile: UInt64 = 0
    /// Files that are complete, since they were asked for.
    private var completed: [String] = []
    /// Frames and bytes in all files, and frames that could not be written.
    package private(set) var frames: UInt64 = 0
    package private(set) var bytes: UInt64 = 0
    package private(set) var failed: UInt64 = 0
    package private(set) var segments = 1
    /// Frames that were written and that the disk may not keep over a power cut, for it failed to say that it does.
    package var doubted: UInt64 { self.unsynced.doubted }

    /// Creates the first file under the first name that nobody has used, and writes its header.
    ///
    /// - Parameters:
    ///   - header: what does not change from file to file, and the wall clock at the start.
    ///   - monotonic: the monotonic clock at the start, ns.
    package init(
        names: SegmentNames,
        header: RecordingHeader,
        monotonic: Int64,
        settings: RecorderSettings,
        disk: any RecordingDisk
    ) throws(Failure) {
        self.names = names
        self.disk = disk
        self.segmentBytes = settings.segmentBytes
        self.syncInterval = settings.syncInterval
        self.header = header
        do throws(DiskFailure) {
            (self.output, self.place, self.path) = try Self.create(names, disk, from: names.firstFree())
        } catch {
            throw Failure(description: "cannot record to \(names.path(1)): \(error); choose another file")
        }
        self.origin = monotonic
        self.newest = header.start ?? 0
        self.segmentDay = Self.day(of: header.start ?? 0)
        self.begin(at: header.start ?? 0, previous: nil)
        self.flush(now: monotonic)
        if let problem = self.takeProblem() {
            self.output.close()
            disk.remove(self.path)
            throw Failure(description: "cannot record to \(self.path): \(problem); choose another file")
        }
    }

    /// Makes the next file that is not there.
    private static func create(
        _ names: SegmentNames,
        _ disk: any RecordingDisk,
        from first: Int
    ) throws(DiskFailure) -> (any RecordingOutput, Int, String) {
        var place = first
        while true {
            do throws(DiskFailure) {
                return (try disk.create(names.path(place)), place, names.path(place))
            } catch {
                guard error == .taken, place < first + 100 else { throw error }
                place += 1
            }
        }
    }

    private static func day(of wall: Int64) -> Int64 {
        wall >= 0 ? wall / Self.day : (wall - Self.day + 1) / Self.day
    }

    /// Takes that the newest file is empty.
    private mutating func begin(at wall: Int64, previous: String?) {
        var header = self.header
        header.version = 2
        header.start = wall
        header.monotonic = self.origin
        header.segment = self.segment
        header.previous = previous
        header.first = self.number
        var line = ByteBuffer()
        RecordingSyntax.header(header, into: &line)
        self.unwritten = line
        self.bytesInFile = 0
        self.lastAt = 0
        self.isCuttable = true
        self.mustEndLine = false
    }

    // MARK: Lines

    /// Appends a frame to the buffer.
    ///
    /// - Parameters:
    ///   - received: our wall clock, ns since 1970.
    ///   - monotonic: the monotonic clock, ns.
    ///   - numbers: those of its trades on the tape; without a trade, the next trade's number.
    package mutating func append(
        frame: ByteBuffer,
        received: Int64,
        monotonic: Int64,
        numbers: RecordedNumbers,
        epoch: UInt64
    ) {
        self.nextSequence = numbers.first
        self.epoch = epoch
        self.makeRoom(wall: received, monotonic: monotonic)
        self.tellMissing(monotonic)
        self.newest = received
        self.bufferBegan = self.bufferBegan ?? received
        RecordingSyntax.frame(
            frame,
            self.stamp(received, monotonic),
            numbers: numbers.count > 0 && epoch == self.header.epoch ? numbers : nil,
            into: &self.buffer
        )
        self.framesInBuffer += 1
    }

    /// Appends a gap to the buffer, behind the frames before it.
    package mutating func append(gap: Gap, wall: Int64, monotonic: Int64) {
        self.makeRoom(wall: wall, monotonic: monotonic)
        self.tellMissing(monotonic)
        RecordingSyntax.gap(gap, self.stamp(wall, monotonic), into: &self.buffer)
    }

    /// Appends anything else.
    package mutating func append(note: RecordedNote, wall: Int64, monotonic: Int64) {
        self.makeRoom(wall: wall, monotonic: monotonic)
        self.tellMissing(monotonic)
        RecordingSyntax.note(note, self.stamp(wall, monotonic), into: &self.buffer)
    }

    /// Takes that frames were left out before the next one, because the disk was too slow.
    package mutating func leftOut(_ count: UInt64, from: Int64, to: Int64, now: Int64) {
        self.flush(now: now)
        self.noteMissing(count, from: from, to: to, reason: "the disk was too slow")
        // The feed's side has said so.
        self.isRecoveryDue = true
        self.lastTrouble = now
    }

    private mutating func stamp(_ wall: Int64, _ monotonic: Int64) -> RecordingSyntax.Stamp {
        let (since, isOut) = monotonic.subtractingReportingOverflow(self.origin)
        self.lastAt = max(self.lastAt, isOut ? 0 : since)
        defer { self.number += 1 }
        return RecordingSyntax.Stamp(number: self.number, wall: wall, at: self.lastAt)
    }

    /// Writes the buffer out when it is full, and begins the next file when the day or the file is over.
    private mutating func makeRoom(wall: Int64, monotonic: Int64) {
        let isOver =
            Self.day(of: wall) > self.segmentDay
            || self.bytesInFile + UInt64(self.buffer.readableBytes) >= self.segmentBytes
        if isOver, monotonic >= self.retryRotationAt {
            self.rotate(wall: wall, monotonic: monotonic)
        } else if self.buffer.readableBytes >= Self.bufferBytes {
            self.flush(now: monotonic)
        }
    }

    private mutating func rotate(wall: Int64, monotonic: Int64) {
        let next: (output: any RecordingOutput, place: Int, path: String)
        do throws(DiskFailure) {
            next = try Self.create(self.names, self.disk, from: self.place + 1)
        } catch {
            // Better a file that is too long than none.
            self.retryRotationAt = monotonic + Self.rotationRetry
            self.failed("\(error)", now: monotonic)
            return
        }
        let previous = self.names.name(self.place)
        self.end(next: self.names.name(next.place), wall: wall, monotonic: monotonic)
        self.completed.append(self.path)
        (self.output, self.place, self.path) = next
        self.segment += 1
        self.segments += 1
        self.origin = monotonic
        self.segmentDay = Self.day(of: wall)
        self.begin(at: wall, previous: previous)
    }

    /// Writes the newest file's last line, and closes it.
    private mutating func end(next: String?, wall: Int64, monotonic: Int64) {
        self.flush(now: monotonic)
        self.tellMissing(monotonic)
        self.tellUnsynced(monotonic)
        var note = RecordedNote(.end)
        note.word = next
        RecordingSyntax.note(note, self.stamp(wall, monotonic), into: &self.buffer)
        self.flush(now: monotonic)
        self.sync(now: monotonic)
        self.output.close()
    }

    // MARK: What is missing

    private mutating func noteMissing(_ count: UInt64, from: Int64, to: Int64, reason: String) {
        var missing = self.missing ?? Missing(count: 0, from: from, to: to, reason: reason)
        missing.count += count
        missing.to = max(missing.to, to)
        self.missing = missing
    }

    /// Writes where frames are missing, so that no reader of the file takes it for whole.
    private mutating func tellMissing(_ monotonic: Int64) {
        guard let missing, !self.tellsMissing else { return }
        self.tellsMissing = true
        let words =
            switch missing.count {
            case 0: "what happened on the connection is not told of in this recording"
            case 1: "1 frame is missing in this recording"
            default: "\(missing.count) frames are missing in this recording"
            }
        let gap = Gap(
            from: missing.from,
            to: missing.to,
            reason: "\(words): \(missing.reason)",
            nextSequence: self.nextSequence,
            epoch: self.epoch
        )
        RecordingSyntax.gap(gap, dropped: missing.count, self.stamp(missing.to, monotonic), into: &self.buffer)
    }

    /// Writes which frames the disk may not keep.
    private mutating func tellUnsynced(_ monotonic: Int64) {
        guard let note = self.unsynced.note() else { return }
        RecordingSyntax.note(note, self.stamp(self.newest, monotonic), into: &self.buffer)
    }

    /// Whether all is well again since the failure that was told last; once.
    package mutating func takeRecovery() -> Bool {
        defer { self.hasRecovered = false }
        return self.hasRecovered
    }

    /// What is wrong, once for each time it begins to be wrong.
    package mutating func takeProblem() -> String? {
        defer { self.untold = nil }
        return self.untold
    }

    /// Why the disk does not keep what is written, once for each time it begins not to.
    package mutating func takeSyncProblem() -> String? {
        defer { self.untoldSync = nil }
        return self.untoldSync
    }

    /// Files that are complete, each once.
    package mutating func takeCompleted() -> [String] {
        defer { self.completed = [] }
        return self.completed
    }

    private mutating func failed(_ problem: String, now: Int64) {
        if self.lastFailure.map({ now - $0 >= Self.quietInterval }) ?? true {
            self.untold = problem
            self.isRecoveryDue = true
        }
        self.lastFailure = now
        self.lastTrouble = now
    }

    // MARK: The disk

    /// Writes the buffer out, at a monotonic time in ns.
    package mutating func flush(now: Int64) {
        let size = self.buffer.readableBytes
        guard size > 0 || self.unwritten != nil else { return }
        do throws(DiskFailure) {
            try self.writeOut()
            self.frames += self.framesInBuffer
            self.numberInFile = self.number
            self.unsyncedSince = self.unsyncedSince ?? now
            self.unsynced.ended(isWritten: true)
            self.unsynced.wrote(self.framesInBuffer, from: self.bufferBegan ?? self.newest, to: self.newest)
            if self.tellsMissing { self.missing = nil }
            if self.isRecoveryDue, let lastTrouble, now - lastTrouble >= Self.recoveryTime {
                self.isRecoveryDue = false
                self.hasRecovered = true
            }
        } catch {
            self.failed("\(error)", now: now)
            self.unsynced.ended(isWritten: false)
            self.failed += self.framesInBuffer
            // Without a frame, what was not written is something that happened.
            self.noteMissing(
                self.framesInBuffer,
                from: self.bufferBegan ?? self.newest,
                to: self.newest,
                reason: "\(error)"
            )
            self.number = self.numberInFile
            // Where this fails too, a newline ends the torn line: its reader finds damage there and says so. From then on
            // nobody knows how long the file is, and cutting it could take what is whole.
            self.isCuttable = self.isCuttable && self.output.truncate(to: self.bytesInFile)
            self.mustEndLine = !self.isCuttable
        }
        self.tellsMissing = false
        self.bufferBegan = nil
        self.buffer.clear(minimumCapacity: 0)
        self.framesInBuffer = 0
    }

    private mutating func writeOut() throws(DiskFailure) {
        if self.mustEndLine {
            try self.write(ByteBuffer(string: "\n"))
            self.mustEndLine = false
        }
        if let header = self.unwritten {
            try self.write(header)
            self.unwritten = nil
        }
        try self.write(self.buffer)
    }

    private mutating func write(_ bytes: ByteBuffer) throws(DiskFailure) {
        guard bytes.readableBytes > 0 else { return }
        let output = self.output
        let result: Result<Void, DiskFailure> = bytes.withUnsafeReadableBytes { bytes in
            do throws(DiskFailure) {
                try output.write(bytes)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        self.bytesInFile += UInt64(bytes.readableBytes)
        self.bytes += UInt64(bytes.readableBytes)
    }

    /// When ``sync(now:)`` is to be called next, monotonic ns.
    package var syncDeadline: Int64? {
        // Half of the time is for the disk.
        self.unsyncedSince.map { $0 + self.syncInterval / 2 }
    }

    /// Has the disk keep what was written.
    package mutating func sync(now: Int64) {
        guard self.unsyncedSince != nil else { return }
        do throws(DiskFailure) {
            try self.output.sync()
            self.unsyncedSince = nil
            self.unsynced.synced()
            guard !self.isClosed else { return }
            // The disk writes again; the line is synced with what follows it.
            self.tellUnsynced(self.origin + self.lastAt)
            self.flush(now: now)
        } catch {
            // Again in half an interval, for as long as it fails: what comes meanwhile wants to be kept.
            self.unsyncedSince = now
            self.unsynced.failed("\(error)")
            if self.lastSyncFailure.map({ now - $0 >= Self.quietInterval }) ?? true { self.untoldSync = "\(error)" }
            self.lastSyncFailure = now
        }
    }

    /// Writes what is left, says that this is the end, syncs and closes.
    package mutating func close(wall: Int64, monotonic: Int64) {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.end(next: nil, wall: wall, monotonic: monotonic)
    }
}
