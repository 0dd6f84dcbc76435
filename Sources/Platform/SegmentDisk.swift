import CLinux
import Glibc

/// The disk operations that must survive a power cut. Tests conform with a disk that forgets unsynced data.
///
/// Each returns whether it succeeded; `errno` has the reason of a failure.
package protocol SegmentDisk: Sendable {
    /// Returns when the contents of an open file would survive a power cut.
    func sync(_ descriptor: Int32, of path: String) -> Bool
    /// Renames a file in one step; fails where the name is taken.
    func rename(_ path: String, to name: String) -> Bool
    /// Renames `draft` to `path` in one step, and replaces the file there.
    func replace(_ path: String, with draft: String) -> Bool
    /// Gives a file a second name; fails where the name is taken.
    func link(_ path: String, as name: String) -> Bool
    func unlink(_ path: String) -> Bool
    /// Returns when the names in a folder would survive a power cut, as far as the disk can ensure that.
    func syncFolder(_ folder: String) -> Bool
}

extension SegmentDisk {
    package func replace(_ path: String, with draft: String) -> Bool { Glibc.rename(draft, path) == 0 }
}

/// This machine's disk.
package struct SystemSegmentDisk: SegmentDisk {
    package init() {}

    package func sync(_ descriptor: Int32, of path: String) -> Bool { fsync(descriptor) == 0 }

    package func rename(_ path: String, to name: String) -> Bool { tickertape_rename_to_new(path, name) == 0 }

    package func link(_ path: String, as name: String) -> Bool { Glibc.link(path, name) == 0 }

    package func unlink(_ path: String) -> Bool { Glibc.unlink(path) == 0 }

    package func syncFolder(_ folder: String) -> Bool {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        // Some file systems cannot sync a folder. That counts as done.
        let isDone = fsync(descriptor) == 0 || [EINVAL, ENOTSUP, ENOSYS].contains(errno)
        let failure = errno
        close(descriptor)
        errno = failure
        return isDone
    }
}
