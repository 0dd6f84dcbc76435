package import Market
package import NIOCore
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

    let names: SegmentNames
    let disk: any RecordingDisk
    let segmentBytes: UInt64
    private let syncInterval: Int64
    /// What every file's header says; the rest is each file's own.
    var header: RecordingHeader
    /// The newest file, its name's place, its beginning on both clocks, and its UTC day.
    var file: SegmentOutput
    var place: Int
    package var path: String { self.file.path }
    var segment = 1
    var origin: Int64
    var segmentDay: Int64
    var buffer = ByteBuffer()
    private var framesInBuffer: UInt64 = 0
    /// The newest file's lines, with those in the buffer and without.
    var lines: RecordingLines
    var linesInFile: RecordingLines
    /// Since when written bytes may be missing from the disk itself, monotonic ns, and the frames that are concerned.
    private var unsyncedSince: Int64?
    private var unsynced = UnsyncedFrames()
    private var lastSyncFailure: Int64?
    private var untoldSync: String?
    var trouble = WritingTrouble()
    var retryRotationAt: Int64 = .min
    var lastRotationFailure: Int64?
    var untoldRotation: String?
    private var missing = MissingFrames()
    /// The arrival of the buffer's first frame, if there is one, and of the newest.
    private var bufferBegan: Int64?
    private var newest: Int64 = 0
    /// What the next trade would be numbered.
    private var nextSequence: UInt64 = 0
    private var epoch: UInt64 = 0
    private var isClosed = false
    /// When what is appended now is written, monotonic ns: behind a stall that is later than it came.
    var writtenAt: Int64 = .min
    /// Files that are complete, since they were asked for.
    var completed: [String] = []
    /// Frames and bytes in all files, and frames that could not be written.
    package private(set) var frames: UInt64 = 0
    package private(set) var bytes: UInt64 = 0
    package private(set) var failed: UInt64 = 0
    package internal(set) var segments = 1
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
    ///   - received: our wall clock, ns since 1970.
    ///   - monotonic: the monotonic clock, ns.
    ///   - numbers: those of its trades on the tape; without a trade, the next trade's number.
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
        guard dialect == .finnhub || self.takesDialects(wall: received, monotonic: monotonic) else {
            self.failed += 1
            return self.missing.note(1, from: received, to: received, reason: "the file is of another version")
        }
        self.makeRoom(wall: received, monotonic: monotonic)
        self.reportMissing(monotonic)
        let at = self.at(monotonic)
        self.lines.markIfDue(flushed: Int(self.file.bytes), wall: received, at: at, into: &self.buffer)
        self.newest = received
        self.bufferBegan = self.bufferBegan ?? received
        self.lines.frame(
            frame,
            of: dialect,
            numbers: numbers.count > 0 && epoch == self.header.epoch ? numbers : nil,
            hasTrades: numbers.count > 0 || !numbers.leftOut.isEmpty,
            wall: received,
            at: at,
            into: &self.buffer
        )
        self.framesInBuffer += 1
    }

    /// How long the newest file will be, bytes.
    var length: Int { Int(self.file.bytes) + self.buffer.readableBytes }

    /// Appends a gap to the buffer, behind the frames before it.
    package mutating func append(gap: Gap, wall: Int64, monotonic: Int64) {
        self.makeRoom(wall: wall, monotonic: monotonic)
        self.reportMissing(monotonic)
        self.lines.gap(gap, wall: wall, at: self.at(monotonic), into: &self.buffer)
    }

    /// Appends anything else.
    package mutating func append(note: RecordedNote, wall: Int64, monotonic: Int64) {
        self.makeRoom(wall: wall, monotonic: monotonic)
        self.reportMissing(monotonic)
        self.lines.note(note, wall: wall, at: self.at(monotonic), into: &self.buffer)
    }

    /// Notes that frames were left out before the next one, because the disk was too slow.
    package mutating func leftOut(_ count: UInt64, from: Int64, to: Int64, now: Int64) {
        self.flush(now: now)
        self.missing.note(count, from: from, to: to, reason: "the disk was too slow")
        // The feed's side has said so.
        self.trouble.wasSlow(now: now)
    }

    /// A monotonic time as the newest file counts it, ns since its beginning.
    func at(_ monotonic: Int64) -> Int64 {
        let (since, isOut) = monotonic.subtractingReportingOverflow(self.origin)
        return isOut ? 0 : since
    }

    // MARK: What is missing

    /// Writes where frames are missing, so that no reader of the file takes it for whole.
    mutating func reportMissing(_ monotonic: Int64) {
        guard let (gap, count) = self.missing.take(nextSequence: self.nextSequence, epoch: self.epoch) else { return }
        self.lines.gap(gap, dropped: count, wall: gap.to, at: self.at(monotonic), into: &self.buffer)
    }

    /// Writes which frames the disk may not keep.
    mutating func reportUnsynced(_ monotonic: Int64) {
        guard let note = self.unsynced.note() else { return }
        self.lines.note(note, wall: self.newest, at: self.at(monotonic), into: &self.buffer)
    }

    /// Whether all is well again since the failure that was told last; once.
    package mutating func takeRecovery() -> Bool { self.trouble.takeRecovery() }

    /// What is wrong, once for each time it begins to be wrong.
    package mutating func takeProblem() -> String? { self.trouble.takeProblem() }

    /// Why the disk does not keep what is written, once for each time it begins not to.
    package mutating func takeSyncProblem() -> String? {
        defer { self.untoldSync = nil }
        return self.untoldSync
    }

    /// Why the next file cannot be made and this one goes on, once for each time that begins to be so.
    package mutating func takeRotationProblem() -> String? {
        defer { self.untoldRotation = nil }
        return self.untoldRotation
    }

    /// Files that are complete, each once.
    package mutating func takeCompleted() -> [String] {
        defer { self.completed = [] }
        return self.completed
    }

    // MARK: The disk

    /// Writes the buffer out, at a monotonic time in ns.
    package mutating func flush(now: Int64) {
        let size = self.buffer.readableBytes
        guard size > 0 || self.file.isBlank else { return }
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
            // Without a frame, what was not written is something that happened.
            self.missing.note(
                self.framesInBuffer,
                from: self.bufferBegan ?? self.newest,
                to: self.newest,
                reason: "\(error)"
            )
            self.lines.goBack(to: self.linesInFile)
        }
        self.missing.ended(isWritten: isWritten)
        self.bufferBegan = nil
        self.buffer.clear(minimumCapacity: 0)
        self.framesInBuffer = 0
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
            try self.file.sync()
            self.unsyncedSince = nil
            self.unsynced.synced()
            guard !self.isClosed else { return }
            // The disk writes again; the line is synced with what follows it.
            self.reportUnsynced(self.origin + self.lines.lastAt)
            self.flush(now: now)
        } catch {
            // Again in half an interval, for as long as it fails: what comes meanwhile wants to be kept.
            self.unsyncedSince = now
            self.unsynced.failed("\(error)")
            if self.lastSyncFailure.map({ now - $0 >= WritingTrouble.quietInterval }) ?? true {
                self.untoldSync = "\(error)"
            }
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
