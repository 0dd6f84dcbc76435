import CLinux
import Glibc

/// What the care for complete files asks of the disk, step by step; one that forgets on purpose is another.
///
/// Each step answers whether it was done; `errno` says why not.
package protocol SegmentDisk: Sendable {
    /// Returns when what is in an open file would survive a power cut.
    func sync(_ descriptor: Int32, of path: String) -> Bool
    /// Gives a file another name that nobody has, in one step, and takes its own.
    func rename(_ path: String, to name: String) -> Bool
    /// Gives a file the name of another one, which goes with that, in one step.
    func replace(_ path: String, with draft: String) -> Bool
    /// Gives a file a second name that nobody has.
    func link(_ path: String, as name: String) -> Bool
    func unlink(_ path: String) -> Bool
    /// Returns when the names in a folder would survive a power cut as they are, as far as the disk can.
    func syncFolder(_ folder: String) -> Bool
}

extension SegmentDisk {
    package func replace(_ path: String, with draft: String) -> Bool { Glibc.rename(draft, path) == 0 }
}

/// The disk of this machine.
package struct SystemSegmentDisk: SegmentDisk {
    package init() {}

    package func sync(_ descriptor: Int32, of path: String) -> Bool { fsync(descriptor) == 0 }

    package func rename(_ path: String, to name: String) -> Bool { tickertape_rename_to_new(path, name) == 0 }

    package func link(_ path: String, as name: String) -> Bool { Glibc.link(path, name) == 0 }

    package func unlink(_ path: String) -> Bool { Glibc.unlink(path) == 0 }

    package func syncFolder(_ folder: String) -> Bool {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        // A file system that cannot do this for a folder does what it can by itself.
        let isDone = fsync(descriptor) == 0 || [EINVAL, ENOTSUP, ENOSYS].contains(errno)
        let failure = errno
        close(descriptor)
        errno = failure
        return isDone
    }
}
