internal import Glibc

/// The identity, size and modification time of a file, which show whether it was replaced or written to after a read.
struct FileStamp: Equatable {
    private let path: String
    private let device: UInt
    private let inode: UInt
    private let bytes: Int
    private let modifiedSeconds: Int
    private let modifiedNanoseconds: Int

    /// Reads the file's current state; a missing file has a stamp as well.
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

    /// Whether the file is unchanged.
    var isCurrent: Bool { FileStamp(self.path) == self }
}
