import Glibc

/// A small text file that is replaced as a whole: after a power cut it holds the old text or the new one.
///
/// The text is written to a draft beside the file and synced; then the draft is renamed in one step; then the folder is
/// synced, without which the new name may not survive (fsync(2)). Without the first sync a power cut can leave an empty
/// file, without the last one the old file.
package enum DurableFile {
    /// The disk's error, as an `errno`.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package var code: Int32

        package init(code: Int32) { self.code = code }

        package var description: String { String(cString: strerror(self.code)) }
    }

    /// Writes the file. Blocks until the disk is done.
    ///
    /// - Parameters:
    ///   - mode: the file's permissions, whatever the process's mask is.
    ///   - replaces: whether an existing file is replaced. Otherwise it stays, even one created a moment ago
    ///     (`EEXIST`).
    package static func write(
        _ text: String,
        to path: String,
        mode: UInt32 = 0o600,
        replaces: Bool = true,
        disk: any SegmentDisk = SystemSegmentDisk()
    ) throws(Failure) {
        // Two programs may write the same file; within this program only one thread does. Hence the process id in the
        // name.
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
        // Best effort: some file systems cannot sync a folder, and the file has its new text already.
        _ = disk.syncFolder(Self.folder(of: path))
    }

    /// Removes the file and syncs the folder; does nothing to a file that does not exist. Blocks until the disk is
    /// done.
    package static func remove(_ path: String, disk: any SegmentDisk = SystemSegmentDisk()) {
        if disk.unlink(path) { _ = disk.syncFolder(Self.folder(of: path)) }
    }

    /// Writes a short text at the descriptor's position; returns whether all of it was written.
    package static func append(_ text: String, to descriptor: Int32) -> Bool {
        Array(text.utf8).withUnsafeBytes { WholeWrite.write($0, to: descriptor) } == 0
    }

    /// The folder of a path.
    package static func folder(of path: String) -> String {
        let end = path.lastIndex(of: "/")
        return end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
