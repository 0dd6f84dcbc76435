import Glibc
package import NIOCore

/// A file that a command is making: never one that is there, and removed where it is not finished, for half of it would be taken
/// for a whole one and be in the way of the next try.
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

    /// Writes over what is at a place.
    func overwrite(_ bytes: ByteBuffer, at place: Int64) throws(RecordingFailure) {
        try self.file.write(bytes, at: place)
    }

    /// Has the disk keep the file, as far as it knows how to: it stays from now on.
    package func finish() throws(RecordingFailure) {
        guard fsync(self.file.descriptor) == 0 || errno == EINVAL else { throw .system("write", self.path) }
        self.unfinished = nil
    }
}
