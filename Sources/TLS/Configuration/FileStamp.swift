internal import Glibc

/// What tells a file from the one that was read under the same name: it was replaced, or written to.
struct FileStamp: Equatable {
    private let path: String
    private let device: UInt
    private let inode: UInt
    private let bytes: Int
    private let modifiedSeconds: Int
    private let modifiedNanoseconds: Int

    /// Looks at the file as it is now; one that is not there has a stamp as well.
    init(_ path: String) {
        var status = stat()
        let isThere = stat(path, &status) == 0
        self.path = path
        self.device = isThere ? UInt(status.st_dev) : 0
        self.inode = isThere ? UInt(status.st_ino) : 0
        self.bytes = isThere ? Int(status.st_size) : -1
        self.modifiedSeconds = isThere ? status.st_mtim.tv_sec : 0
        self.modifiedNanoseconds = isThere ? status.st_mtim.tv_nsec : 0
    }

    /// Whether the file is as it was.
    var isCurrent: Bool { FileStamp(self.path) == self }
}
