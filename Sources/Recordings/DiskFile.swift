import Glibc
import NIOCore
import Platform

/// An open file that is closed when its last reference goes away.
final class DiskFile {
    let path: String
    let descriptor: Int32
    /// The bytes read from it so far.
    private(set) var bytesRead: Int64 = 0

    /// Opens a file for reading. Only a regular file can be a recording.
    ///
    /// - Parameter followsLinks: whether the path may be a symbolic link.
    init(reading path: String, followsLinks: Bool = true) throws(RecordingFailure) {
        self.path = path
        // O_NONBLOCK: a named pipe without a writer must not hang the program; it has no effect on files.
        self.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard self.descriptor >= 0 else { throw .system("read", path) }
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw .system("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw RecordingFailure("\(path) is not a file: name a recording")
        }
    }

    /// Creates a file. It fails where the path exists.
    init(creating path: String) throws(RecordingFailure) {
        self.path = path
        self.descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard self.descriptor >= 0 else {
            throw errno == EEXIST
                ? RecordingFailure("cannot write \(path): it exists, and nothing is overwritten; choose another file")
                : .system("write", path)
        }
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    /// The size in bytes; 0 where the system does not report it.
    var size: Int64 {
        var status = stat()
        return fstat(self.descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Reads up to `count` bytes; fewer only at the file's end.
    func read(at offset: Int64, count: Int) throws(RecordingFailure) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(count)
        while buffer.readableBytes < count {
            let place = off_t(offset) + off_t(buffer.readableBytes)
            let left = count - buffer.readableBytes
            let descriptor = self.descriptor
            // An error is not the file's end: treating it as the end would drop the rest of the file.
            var hasFailed = false
            let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: left) { bytes in
                while true {
                    let got = pread(descriptor, bytes.baseAddress, left, place)
                    if got >= 0 { return got }
                    if errno == EINTR { continue }
                    hasFailed = true
                    return 0
                }
            }
            if hasFailed { throw .system("read", self.path) }
            if got == 0 { break }
        }
        self.bytesRead += Int64(buffer.readableBytes)
        return buffer
    }

    /// Reads into `bytes`; returns the number of bytes read, 0 at the end.
    func read(at offset: Int64, into bytes: UnsafeMutableRawBufferPointer) throws(RecordingFailure) -> Int {
        while true {
            let got = pread(self.descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            if got >= 0 {
                self.bytesRead += Int64(got)
                return got
            }
            guard errno == EINTR else { throw .system("read", self.path) }
        }
    }

    /// Writes all bytes, after the bytes written so far or at `place`.
    func write(_ bytes: ByteBuffer, at place: Int64? = nil) throws(RecordingFailure) {
        let code = bytes.withUnsafeReadableBytes { WholeWrite.write($0, to: self.descriptor, at: place) }
        guard code == 0 else { throw .system("write", self.path, code) }
    }

    /// Returns when the file would survive a power cut.
    func sync(_ disk: any SegmentDisk = SystemSegmentDisk()) throws(RecordingFailure) {
        guard disk.sync(self.descriptor, of: self.path) else { throw .system("write", self.path) }
    }
}
