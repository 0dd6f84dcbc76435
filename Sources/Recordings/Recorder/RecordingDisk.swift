import Glibc
import Platform

/// What the recorder asks of a disk; one that fails on purpose is another.
package protocol RecordingDisk: Sendable {
    /// Makes a file that nobody has made before.
    func create(_ path: String) throws(DiskFailure) -> any RecordingOutput
    /// Removes a file in which nothing is of use.
    func remove(_ path: String)
}

/// A file that is written from its start to its end, by one thread at a time.
package protocol RecordingOutput: AnyObject, Sendable {
    /// Writes all of it, or an unknown part and throws.
    func write(_ bytes: UnsafeRawBufferPointer) throws(DiskFailure)
    /// Cuts the file to so many bytes; returns whether that was done.
    func truncate(to length: UInt64) -> Bool
    /// Returns when what was written would survive a power cut.
    func sync() throws(DiskFailure)
    func close()
}

/// Why the disk did not do it, as `errno` has it.
package struct DiskFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The name is taken.
    package static let taken = DiskFailure(EEXIST)

    package var description: String { String(cString: strerror(self.code)) }
}

/// The disk of this machine.
package struct SystemDisk: RecordingDisk {
    /// A second, in which a lock is asked for now and then.
    private static let lockTries = 200
    /// Between two of them, µs.
    private static let lockPause: UInt32 = 5_000

    package init() {}

    package func create(_ path: String) throws(DiskFailure) -> any RecordingOutput {
        // O_EXCL: whatever is there already is somebody's evidence.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw DiskFailure(errno) }
        // Tells a program that starts meanwhile that this recording is not yet over; the lock goes with the process.
        // Somebody who looks into the new file lets go of it at once, for nothing is in it yet; who does not, does not hold
        // up the recorder. A file system without locks has none.
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
        // The name of the new file survives a power cut, as far as the disk can do that.
        _ = SystemSegmentDisk().syncFolder(DurableFile.folder(of: path))
        return SystemFile(descriptor)
    }

    package func remove(_ path: String) { unlink(path) }
}

/// A file of this machine's.
///
/// Unchecked, because the recorder's lock keeps its threads apart.
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
