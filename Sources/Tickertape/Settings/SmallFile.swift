import Glibc

/// The contents of a small regular file.
struct SmallFile {
    /// The reason why a file was refused, as the end of a sentence that begins with its name.
    struct Failure: Error {
        let reason: String
    }

    let bytes: [UInt8]
    /// The command that keeps other users from reading the file; `nil` where they cannot.
    ///
    /// If another user owns the file, this process may need its group permission. Only the permissions of the world
    /// count then.
    let hintForReaders: String?

    /// Reads a file of at most `limit` bytes; `nil` when it does not exist.
    init?(path: String, limit: Int) throws(Failure) {
        // Without O_NONBLOCK, a named pipe would block the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Failure(reason: "cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw Failure(reason: "cannot be read: \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(reason: status.st_mode & S_IFMT == S_IFDIR ? "is a folder" : "is not a regular file")
        }
        if status.st_uid == geteuid() {
            self.hintForReaders = status.st_mode & (S_IRGRP | S_IROTH) == 0 ? nil : "chmod 600 \(path)"
        } else {
            self.hintForReaders = status.st_mode & S_IROTH == 0 ? nil : "chmod o= \(path)"
        }

        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let before = bytes.count
            let wanted = Swift.min(64 << 10, limit + 1 - before)
            bytes.append(contentsOf: repeatElement(0, count: wanted))
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress! + before, wanted)
            }
            if count < 0 {
                if errno == EINTR {
                    bytes.removeLast(wanted)
                    continue
                }
                throw Failure(reason: "cannot be read: \(String(cString: strerror(errno)))")
            }
            bytes.removeLast(wanted - count)
            if count == 0 { break }
        }
        guard bytes.count <= limit else { throw Failure(reason: "is larger than \(limit) bytes") }
        self.bytes = bytes
    }
}
