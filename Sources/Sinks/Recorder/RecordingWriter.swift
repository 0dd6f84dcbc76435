import Glibc
import Market
import NIOCore
import Wire

/// An open recording file: lines go into a buffer, and from there to the file in whole lines.
///
/// A line is in the file wholly or not at all: after a write that the disk cut short, the file is cut back to its last
/// whole line. Belongs to one thread at a time.
struct RecordingWriter {
    /// Why a file cannot be made, in one line.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How long all must have gone well before a failure is news again, in nanoseconds: on a full disk a short line still
    /// finds room now and then.
    private static let quietInterval: Int64 = 60_000_000_000
    /// How long written lines may be missing from the disk itself, in nanoseconds.
    private static let syncInterval: Int64 = 1_000_000_000

    /// Frames that are not in the file where they should be.
    private struct Missing {
        var count: UInt64
        /// The arrivals of the first and the last of them, wall clock, ns since 1970.
        var from: Int64
        var to: Int64
        var reason: String
    }

    /// How long it must go well for a failure to be over, in nanoseconds.
    private static let recoveryTime: Int64 = 5_000_000_000

    private let descriptor: Int32
    private let started: Int64
    /// The run of numbers that the header names.
    private let numberedEpoch: UInt64?
    private var buffer = ByteBuffer()
    private var framesInBuffer: UInt64 = 0
    private var lastSync: Int64
    /// The newest frame's time; the lines' times never go back, though the wall clock may.
    private var lastAt: Int64 = 0
    /// When it last failed, monotonic ns; `nil` while all is well.
    private var lastFailure: Int64?
    private var untold: String?
    /// Whether somebody was told that it fails, and not yet that it does no more.
    private var isRecoveryDue = false
    private var hasRecovered = false
    /// What the file must tell before its next line.
    private var missing: Missing?
    /// Whether the buffer begins with that.
    private var tellsMissing = false
    /// The arrival of the buffer's first frame, if there is one.
    private var bufferBegan: Int64?
    /// The arrival of the newest frame, and what its trades would be numbered after.
    private var newest: Int64 = 0
    private var nextSequence: UInt64 = 0
    private var epoch: UInt64 = 0
    private var isClosed = false
    /// Frames and bytes in the file, and frames that could not be written.
    private(set) var frames: UInt64 = 0
    private(set) var bytes: UInt64 = 0
    private(set) var failed: UInt64 = 0

    /// Creates the file, which must not exist, and writes the header.
    init(path: String, header: RecordingHeader) throws(Failure) {
        // O_EXCL: whatever is there already is somebody's evidence.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let reason =
                errno == EEXIST ? "it exists, and a recording is never overwritten" : String(cString: strerror(errno))
            throw Failure(description: "cannot record to \(path): \(reason); choose another file")
        }
        self.descriptor = descriptor
        self.started = header.start ?? 0
        self.numberedEpoch = header.epoch
        // Tells a program that starts meanwhile that this recording is not yet over; the lock goes with the process.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        self.lastSync = Self.now
        RecordingEncoder.header(header, into: &self.buffer)
        self.flush()
        if let problem = self.takeProblem() {
            _ = Glibc.close(descriptor)
            unlink(path)
            throw Failure(description: "cannot record to \(path): \(problem); choose another file")
        }
    }

    /// Appends a frame to the buffer.
    ///
    /// - Parameters:
    ///   - received: our wall clock, ns since 1970.
    ///   - numbers: those of its trades on the tape; without a trade, the next trade's number.
    mutating func append(frame: ByteBuffer, received: Int64, numbers: RecordedNumbers, epoch: UInt64) {
        self.nextSequence = numbers.first
        self.epoch = epoch
        self.tellMissing()
        self.newest = received
        self.bufferBegan = self.bufferBegan ?? received
        self.lastAt = max(self.lastAt, received - self.started)
        RecordingEncoder.frame(
            frame,
            at: self.lastAt,
            numbers: numbers.count > 0 && epoch == self.numberedEpoch ? numbers : nil,
            into: &self.buffer
        )
        self.framesInBuffer += 1
        if self.buffer.readableBytes >= 1 << 20 { self.flush() }
    }

    /// Appends a gap to the buffer, behind the frames before it.
    mutating func append(gap: Gap) {
        self.tellMissing()
        self.lastAt = max(self.lastAt, gap.to - self.started)
        RecordingEncoder.gap(gap, at: self.lastAt, into: &self.buffer)
    }

    /// Takes that frames were left out before the next one, because the disk was too slow.
    mutating func leftOut(_ count: UInt64, from: Int64, to: Int64) {
        self.flush()
        self.noteMissing(count, from: from, to: to, reason: "the disk was too slow")
    }

    private mutating func noteMissing(_ count: UInt64, from: Int64, to: Int64, reason: String) {
        var missing = self.missing ?? Missing(count: 0, from: from, to: to, reason: reason)
        missing.count += count
        missing.to = to
        self.missing = missing
    }

    /// Writes where frames are missing as a gap, so that no reader of the file takes it for whole.
    private mutating func tellMissing() {
        guard let missing, !self.tellsMissing else { return }
        self.tellsMissing = true
        let words =
            switch missing.count {
            case 0: "a gap is not told of in this recording"
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
        self.lastAt = max(self.lastAt, gap.to - self.started)
        RecordingEncoder.gap(gap, at: self.lastAt, into: &self.buffer)
    }

    /// Whether all is well again since the failure that was told last; once.
    mutating func takeRecovery() -> Bool {
        defer { self.hasRecovered = false }
        return self.hasRecovered
    }

    /// What is wrong, once for each time it begins to be wrong.
    mutating func takeProblem() -> String? {
        defer { self.untold = nil }
        return self.untold
    }

    private mutating func failed(_ problem: String, now: Int64) {
        if self.lastFailure.map({ now - $0 >= Self.quietInterval }) ?? true {
            self.untold = problem
            self.isRecoveryDue = true
        }
        self.lastFailure = now
    }

    /// Writes the buffer out.
    mutating func flush() {
        let size = self.buffer.readableBytes
        guard size > 0 else { return }
        let problem = self.writeOut()
        let now = Self.now
        if let problem {
            self.failed(problem, now: now)
            self.failed += self.framesInBuffer
            // Without a frame, what was not written is a gap.
            self.noteMissing(
                self.framesInBuffer,
                from: self.bufferBegan ?? self.newest,
                to: self.newest,
                reason: problem
            )
            // Best effort: where this fails too, the reader finds one torn line in the middle and says so.
            _ = ftruncate(self.descriptor, off_t(self.bytes))
        } else {
            self.bytes += UInt64(size)
            self.frames += self.framesInBuffer
            if self.tellsMissing { self.missing = nil }
            if self.isRecoveryDue, let lastFailure, now - lastFailure >= Self.recoveryTime {
                self.isRecoveryDue = false
                self.hasRecovered = true
            }
        }
        self.tellsMissing = false
        self.bufferBegan = nil
        self.buffer.clear(minimumCapacity: 0)
        self.framesInBuffer = 0
        if problem == nil, now - self.lastSync >= Self.syncInterval {
            self.lastSync = now
            if fdatasync(self.descriptor) != 0 { self.failed(String(cString: strerror(errno)), now: now) }
        }
    }

    /// Writes what is left, syncs and closes.
    mutating func close() {
        guard !self.isClosed else { return }
        self.flush()
        self.tellMissing()
        self.flush()
        self.isClosed = true
        if fdatasync(self.descriptor) != 0 { self.failed(String(cString: strerror(errno)), now: Self.now) }
        _ = Glibc.close(self.descriptor)
    }

    private func writeOut() -> String? {
        self.buffer.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(
                    self.descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if written < 0 {
                    if errno == EINTR { continue }
                    return String(cString: strerror(errno))
                }
                rest = rest.dropFirst(written)
            }
            return nil
        }
    }

    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }
}
