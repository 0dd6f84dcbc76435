import Glibc
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

    /// How long written lines may be missing from the disk itself, in nanoseconds.
    private static let syncInterval: Int64 = 1_000_000_000

    private let descriptor: Int32
    private let started: Int64
    private var buffer = ByteBuffer()
    private var linesInBuffer: UInt64 = 0
    private var lastSync: Int64
    private var isBroken = false
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
            throw Failure(description: "cannot record to \(path): \(reason); choose another name")
        }
        self.descriptor = descriptor
        self.started = header.start ?? 0
        self.lastSync = Self.now
        RecordingEncoder.header(header, into: &self.buffer)
        if let problem = self.flush() { throw Failure(description: "cannot record to \(path): \(problem)") }
    }

    /// Appends a frame to the buffer.
    ///
    /// - Parameter received: our wall clock, ns since 1970.
    mutating func append(frame: ByteBuffer, received: Int64) {
        RecordingEncoder.frame(frame, at: received - self.started, into: &self.buffer)
        self.linesInBuffer += 1
        if self.buffer.readableBytes >= 1 << 20 { _ = self.flush() }
    }

    /// Writes the buffer out; answers with what is wrong, once for each time it begins to be wrong.
    mutating func flush() -> String? {
        let size = self.buffer.readableBytes
        guard size > 0 else { return nil }
        let problem = self.writeOut()
        if problem == nil {
            self.bytes += UInt64(size)
            self.frames += self.linesInBuffer
        } else {
            self.failed += self.linesInBuffer
            // Best effort: where this fails too, the reader finds one torn line in the middle and says so.
            _ = ftruncate(self.descriptor, off_t(self.bytes))
        }
        self.buffer.clear(minimumCapacity: 0)
        self.linesInBuffer = 0
        let now = Self.now
        if problem == nil, now - self.lastSync >= Self.syncInterval {
            self.lastSync = now
            _ = fdatasync(self.descriptor)
        }
        defer { self.isBroken = problem != nil }
        return self.isBroken ? nil : problem
    }

    /// Writes what is left, syncs and closes.
    mutating func close() {
        guard !self.isClosed else { return }
        _ = self.flush()
        self.isClosed = true
        _ = fdatasync(self.descriptor)
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
