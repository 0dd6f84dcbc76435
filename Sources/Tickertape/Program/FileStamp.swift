import Glibc

/// What changes when a file is written or replaced.
struct FileStamp: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// - Returns: `nil` for a file that is not there.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.device = UInt(status.st_dev)
        self.inode = UInt(status.st_ino)
        self.size = Int(status.st_size)
        self.seconds = status.st_mtim.tv_sec
        self.nanoseconds = status.st_mtim.tv_nsec
    }
}
