package import Market
package import NIOCore
package import Wire

/// The files of a recording while they are written: lines go into a buffer, and from there to the newest file in whole
/// lines.
///
/// A file never keeps a part of a line: after a partial write it is truncated to its last whole line. The lines of a
/// file are numbered without a hole, so that a hole proves damage; a line reports what the disk did not take. Belongs
/// to one thread at a time; time comes as an argument.
package struct RecordingWriter: Sendable {
    /// The reason why a file cannot be made, in one line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    let names: SegmentNames
    let disk: any RecordingDisk
    let segmentBytes: UInt64
    private let syncInterval: Int64
    /// The fields that all files' headers share.
    var header: RecordingHeader
    /// The newest file, the number in its name, its beginning on both clocks, and its UTC day.
    var file: SegmentOutput
    var place: Int
    package var path: String { self.file.path }
    var segment = 1
    var origin: Int64
    var segmentDay: Int64
    var buffer = ByteBuffer()
    var framesInBuffer: UInt64 = 0
    /// Whether the header waits for the run of numbers that the first trade has.
    var awaitsEpoch = false
    /// The state of the newest file's lines, with and without those in the buffer.
    var lines: RecordingLines
    var linesInFile: RecordingLines
    /// Since when written bytes are not synced, monotonic ns, and the frames in them.
    private var unsyncedSince: Int64?
    private var unsynced = UnsyncedFrames()
    private var lastSyncFailure: Int64?
    private var unreportedSync: String?
    var trouble = WritingTrouble()
    var retryRotationAt: Int64 = .min
    var lastRotationFailure: Int64?
    var unreportedRotation: String?
    private var missing = MissingFrames()
    /// The arrival of the buffer's first frame, if there is one, and of the newest.
    private var bufferBegan: Int64?
    private var newest: Int64 = 0
    /// The number of the next trade.
    private var nextSequence: UInt64 = 0
    private var epoch: UInt64 = 0
    private var isClosed = false
    /// The completeness of each hour of the files, and the lines about it; `nil` once lines are missing in a file.
    var completeness: RecordedCompleteness? = RecordedCompleteness()
    var writtenHours: [CompletenessHour] = []
    /// The time at which lines appended now will be written, monotonic ns. After a stall it is later than their
    /// arrival.
    var writtenAt: Int64 = .min
    /// Files completed since the last `takeCompleted()`.
    var completed: [String] = []
    /// Frames and bytes in all files, and frames that could not be written.
    package private(set) var frames: UInt64 = 0
    package private(set) var bytes: UInt64 = 0
    package private(set) var failed: UInt64 = 0
    package internal(set) var segments = 1
    /// Frames that were written and may not survive a power cut, because a sync failed.
    package var doubted: UInt64 { self.unsynced.doubted }

    /// Creates the first file under the first free name, and writes its header.
    ///
    /// - Parameters:
    ///   - header: the fields that all files share, and the wall clock at the start.
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
        let made: (output: any RecordingOutput, place: Int, path: String)
        do throws(DiskFailure) {
            made = try Self.create(names, disk, from: names.firstFree())
        } catch {
            throw Failure(description: "cannot record to \(names.path(1)): \(error); choose another file")
        }
        let start = header.start ?? 0
        self.place = made.place
        self.origin = monotonic
        self.newest = start
        self.segmentDay = Self.day(of: start)
        self.file = SegmentOutput(
            made.output,
            path: made.path,
            header: Self.header(header, segment: 1, wall: start, monotonic: monotonic, first: 1)
        )
        self.lines = RecordingLines(first: 1, start: start)
        self.linesInFile = self.lines
        self.awaitsEpoch = header.epoch == nil && header.writerRun != nil
        self.flush(now: monotonic)
        if let problem = self.takeProblem() {
            self.file.close()
            disk.remove(self.path)
            throw Failure(description: "cannot record to \(self.path): \(problem); choose another file")
        }
    }

    // MARK: Lines

    /// Appends a frame to the buffer.
    ///
    /// - Parameters:
    ///   - received: this machine's wall clock, ns since 1970.
    ///   - monotonic: the monotonic clock, ns.
    ///   - numbers: the tape numbers of its trades; without a trade, the next trade's number.
    package mutating func append(
        frame: ByteBuffer,
        of dialect: FrameDialect,
        received: Int64,
        monotonic: Int64,
        numbers: RecordedNumbers,
        epoch: UInt64
    ) {
        self.nextSequence = numbers.first
        self.epoch = epoch
        let isNumbered = self.areKept(numbers, dialect)
        guard self.takes(dialect, epoch: isNumbered ? epoch : nil, wall: received, monotonic: monotonic) else {
            self.failed += 1
            return self.missing.note(1, from: received, to: received, reason: "the file is of another version")
        }
        self.makeRoom(wall: received, monotonic: monotonic)
        self.reportMissing(monotonic)
        let at = self.at(monotonic)
        self.lines.markIfDue(flushed: Int(self.file.bytes), wall: received, at: at, into: &self.buffer)
        self.newest = received
        self.bufferBegan = self.bufferBegan ?? received
        // Where no file could be made for another epoch, the numbers would be wrong.
        let kept = isNumbered && epoch == self.header.epoch ? numbers : nil
        self.lines.frame(
            frame,
            of: dialect,
            numbers: kept,
            hasTrades: numbers.hasTrades,
            wall: received,
            at: at,
            into: &self.buffer
        )
        self.framesInBuffer += 1
        self.completeness?.take(frame, of: dialect, numbers: kept, read: RecordingSyntax.microseconds(received))
    }

    /// Whether a line has the numbers of its trades. Where all were left out, they are needed only if ids prove that each
    /// is not on the tape.
    private func areKept(_ numbers: RecordedNumbers, _ dialect: FrameDialect) -> Bool {
        numbers.count > 0 || (dialect.hasIDs && numbers.hasTrades)
    }

    /// The newest file's length with the buffer, bytes.
    var length: Int { Int(self.file.bytes) + self.buffer.readableBytes }

    /// Appends a gap to the buffer, behind the frames before it.
    package mutating func append(gap: Gap, wall: Int64, monotonic: Int64) {
        self.makeRoom(wall: wall, monotonic: monotonic)
        self.reportMissing(monotonic)
        self.lines.gap(gap, wall: wall, at: self.at(monotonic), into: &self.buffer)
        self.completeness?.take(gap)
    }

    /// Appends a note to the buffer.
    package mutating func append(note: RecordedNote, wall: Int64, monotonic: Int64) {
        self.makeRoom(wall: wall, monotonic: monotonic)
        self.reportMissing(monotonic)
        self.lines.note(note, wall: wall, at: self.at(monotonic), into: &self.buffer)
        if let outcome = note.outcome { self.completeness?.take(outcome) }
    }

    /// Records that frames were left out before the next one, because the disk was too slow.
    package mutating func leftOut(_ count: UInt64, from: Int64, to: Int64, now: Int64) {
        self.flush(now: now)
        self.missing.note(count, from: from, to: to, reason: "the disk was too slow")
        // The feed's side has logged it.
        self.trouble.wasSlow(now: now)
    }

    /// Converts a monotonic time to ns since the newest file's beginning.
    func at(_ monotonic: Int64) -> Int64 {
        let (since, isOut) = monotonic.subtractingReportingOverflow(self.origin)
        return isOut ? 0 : since
    }

    // MARK: Losses

    /// Appends a line about missing frames, so that no reader takes the file for complete.
    mutating func reportMissing(_ monotonic: Int64) {
        guard let (gap, count) = self.missing.take(nextSequence: self.nextSequence, epoch: self.epoch) else { return }
        self.lines.gap(gap, dropped: count, wall: gap.to, at: self.at(monotonic), into: &self.buffer)
    }

    /// Appends a line about the frames that may not survive a power cut.
    mutating func reportUnsynced(_ monotonic: Int64) {
        guard let note = self.unsynced.note() else { return }
        self.lines.note(note, wall: self.newest, at: self.at(monotonic), into: &self.buffer)
    }

    /// Whether writing has recovered since the last reported failure; true once.
    package mutating func takeRecovery() -> Bool { self.trouble.takeRecovery() }

    /// The problem with writing, once for each time it begins.
    package mutating func takeProblem() -> String? { self.trouble.takeProblem() }

    /// The problem with syncing, once for each time it begins.
    package mutating func takeSyncProblem() -> String? {
        defer { self.unreportedSync = nil }
        return self.unreportedSync
    }

    /// Why the next file cannot be made while this one continues, once for each time the problem begins.
    package mutating func takeRotationProblem() -> String? {
        defer { self.unreportedRotation = nil }
        return self.unreportedRotation
    }

    /// The files completed since the last call.
    package mutating func takeCompleted() -> [String] {
        defer { self.completed = [] }
        return self.completed
    }

    // MARK: The disk

    /// Writes the buffer out, at a monotonic time in ns.
    package mutating func flush(now: Int64) {
        let size = self.buffer.readableBytes
        guard size > 0 || self.file.isBlank, !self.holds(now: now) else { return }
        var isWritten = true
        let before = self.file.bytes
        defer { self.bytes += self.file.bytes - before }
        do throws(DiskFailure) {
            try self.file.write(self.buffer)
            self.frames += self.framesInBuffer
            self.linesInFile = self.lines
            self.unsyncedSince = self.unsyncedSince ?? now
            self.unsynced.ended(isWritten: true)
            self.unsynced.wrote(self.framesInBuffer, from: self.bufferBegan ?? self.newest, to: self.newest)
            self.trouble.succeeded(now: now)
        } catch {
            isWritten = false
            self.trouble.failed("\(error)", now: now)
            self.unsynced.ended(isWritten: false)
            self.failed += self.framesInBuffer
            // A count of 0 reports that other lines are missing.
            self.missing.note(
                self.framesInBuffer,
                from: self.bufferBegan ?? self.newest,
                to: self.newest,
                reason: "\(error)"
            )
            self.lines.goBack(to: self.linesInFile)
            self.completeness = nil
        }
        self.missing.ended(isWritten: isWritten)
        self.bufferBegan = nil
        self.buffer.clear(minimumCapacity: 0)
        self.framesInBuffer = 0
    }

    /// When ``sync(now:)`` is due next, monotonic ns.
    package var syncDeadline: Int64? {
        // The other half of the interval is left for the disk.
        self.unsyncedSince.map { $0 + self.syncInterval / 2 }
    }

    /// Syncs the newest file.
    package mutating func sync(now: Int64) {
        guard self.unsyncedSince != nil else { return }
        do throws(DiskFailure) {
            try self.file.sync()
            self.unsyncedSince = nil
            self.unsynced.synced()
            guard !self.isClosed else { return }
            // The disk works again. The line is synced together with the lines that follow.
            self.reportUnsynced(self.origin + self.lines.lastAt)
            self.flush(now: now)
        } catch {
            // Tries again in half an interval, until it succeeds: newer lines still need the sync.
            self.unsyncedSince = now
            self.unsynced.failed("\(error)")
            if self.lastSyncFailure.map({ now - $0 >= WritingTrouble.quietInterval }) ?? true {
                self.unreportedSync = "\(error)"
            }
            self.lastSyncFailure = now
        }
    }

    /// Writes the rest and the `end` line, syncs and closes.
    package mutating func close(wall: Int64, monotonic: Int64) {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.end(next: nil, wall: wall, monotonic: monotonic)
    }
}
