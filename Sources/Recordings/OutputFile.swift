import Glibc
package import NIOCore

/// A file that a command creates. It never replaces an existing one.
///
/// An unfinished file is removed: it would be mistaken for a whole one and block the next attempt.
package final class OutputFile {
    package let path: String
    private let file: DiskFile
    private var unfinished: UnfinishedFile?

    package init(_ path: String) throws(RecordingFailure) {
        self.path = path
        self.file = try DiskFile(creating: path)
        self.unfinished = UnfinishedFile(path)
    }

    deinit { if self.unfinished != nil { unlink(self.path) } }

    package func write(_ bytes: ByteBuffer) throws(RecordingFailure) { try self.file.write(bytes) }

    /// Writes over the bytes at `place`.
    func overwrite(_ bytes: ByteBuffer, at place: Int64) throws(RecordingFailure) {
        try self.file.write(bytes, at: place)
    }

    /// Syncs the file, where the file system can. The file is kept from then on.
    package func finish() throws(RecordingFailure) {
        guard fsync(self.file.descriptor) == 0 || errno == EINVAL else { throw .system("write", self.path) }
        self.unfinished = nil
    }
}
