import Glibc
import Platform

/// A small text file that is replaced as a whole, so that after a power cut it has the old text or the new one.
///
/// The text goes to a draft beside the file and onto the disk; then the draft takes the name, in one step; then the folder
/// goes onto the disk, which alone makes the name last (fsync(2)). Without the first a cut can leave an empty file, without
/// the last the old one.
package enum DurableFile {
    /// Why the disk did not do it, as `errno` has it.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package var code: Int32

        package init(code: Int32) { self.code = code }

        package var description: String { String(cString: strerror(self.code)) }
    }

    /// Writes the file. Blocks for as long as the disk takes.
    ///
    /// - Parameters:
    ///   - mode: the file's permissions, whatever the process's mask is.
    ///   - replaces: whether a file that is there makes way; if not it stays, also one that came a moment ago (`EEXIST`).
    package static func write(
        _ text: String,
        to path: String,
        mode: UInt32 = 0o600,
        replaces: Bool = true,
        disk: any SegmentDisk = SystemSegmentDisk()
    ) throws(Failure) {
        // Two programs may write the same file; of this program one thread does.
        let draft = "\(path).\(getpid()).new"
        Glibc.unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        var isDone = Self.append(text, to: descriptor) && fchmod(descriptor, mode) == 0
        isDone = isDone && disk.sync(descriptor, of: draft)
        var code = errno
        close(descriptor)
        if isDone {
            isDone = replaces ? disk.replace(path, with: draft) : disk.link(draft, as: path)
            code = errno
        }
        if !isDone || !replaces { Glibc.unlink(draft) }
        guard isDone else { throw Failure(code: code) }
        // As far as the disk can: some file systems do not know it, and the file has its new text already.
        _ = disk.syncFolder(Self.folder(of: path))
    }

    /// Removes the file, also over a power cut; one that is not there is removed. Blocks for as long as the disk takes.
    package static func remove(_ path: String, disk: any SegmentDisk = SystemSegmentDisk()) {
        if disk.unlink(path) { _ = disk.syncFolder(Self.folder(of: path)) }
    }

    /// Writes a short text from the descriptor's place on; returns whether all of it went.
    package static func append(_ text: String, to descriptor: Int32) -> Bool {
        Array(text.utf8).withUnsafeBytes { WholeWrite.write($0, to: descriptor) } == 0
    }

    /// The folder that a file's name is in.
    package static func folder(of path: String) -> String {
        let end = path.lastIndex(of: "/")
        return end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
