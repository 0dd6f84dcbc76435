import Glibc
import Platform

/// The disk operations of a recorder. Tests conform with a disk that fails on purpose.
package protocol RecordingDisk: Sendable {
    /// Creates a file. Throws ``DiskFailure/taken`` where the path exists.
    func create(_ path: String) throws(DiskFailure) -> any RecordingOutput
    /// Removes a file without useful content.
    func remove(_ path: String)
}

/// A file that is written from start to end, by one thread at a time.
package protocol RecordingOutput: AnyObject, Sendable {
    /// Writes all bytes, or throws after an unknown part of them.
    func write(_ bytes: UnsafeRawBufferPointer) throws(DiskFailure)
    /// Truncates the file to `length` bytes; returns whether that succeeded.
    func truncate(to length: UInt64) -> Bool
    /// Returns when everything written would survive a power cut.
    func sync() throws(DiskFailure)
    func close()
}

/// The disk's error, as an `errno`.
package struct DiskFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The path exists.
    package static let taken = DiskFailure(EEXIST)

    package var description: String { String(cString: strerror(self.code)) }
}

/// This machine's disk.
package struct SystemDisk: RecordingDisk {
    /// How often the lock is tried, for one second in all.
    private static let lockTries = 200
    /// The pause between two tries, µs.
    private static let lockPause: UInt32 = 5_000

    package init() {}

    package func create(_ path: String) throws(DiskFailure) -> any RecordingOutput {
        // O_EXCL: an existing file is never overwritten.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw DiskFailure(errno) }
        // The lock shows to other programs that this recording is not over; it ends with the process. A reader of the
        // new, still empty file may hold it for a moment. One that keeps it must not block the recorder for long. A
        // file system without locks gets none.
        var tries = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            guard tries < Self.lockTries else {
                unlink(path)
                close(descriptor)
                throw DiskFailure(EWOULDBLOCK)
            }
            tries += 1
            usleep(Self.lockPause)
        }
        // So that the new file's name survives a power cut, as far as the disk can ensure that.
        _ = SystemSegmentDisk().syncFolder(DurableFile.folder(of: path))
        return SystemFile(descriptor)
    }

    package func remove(_ path: String) { unlink(path) }
}

/// A file on this machine.
///
/// Unchecked, because the recorder's lock serializes its threads.
private final class SystemFile: RecordingOutput, @unchecked Sendable {
    private var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { self.close() }

    func write(_ bytes: UnsafeRawBufferPointer) throws(DiskFailure) {
        let code = WholeWrite.write(bytes, to: self.descriptor)
        guard code == 0 else { throw DiskFailure(code) }
    }

    func truncate(to length: UInt64) -> Bool { ftruncate(self.descriptor, off_t(length)) == 0 }

    func sync() throws(DiskFailure) {
        guard fdatasync(self.descriptor) == 0 else { throw DiskFailure(errno) }
    }

    func close() {
        guard self.descriptor >= 0 else { return }
        _ = Glibc.close(self.descriptor)
        self.descriptor = -1
    }
}
