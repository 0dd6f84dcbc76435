internal import Glibc

/// A reader of small files as a whole, whose errors name the file.
enum BoundedFile {
    /// Reads at most `limit` bytes. Throws ``TLSError/Kind/configuration`` for a larger file or an unreadable one.
    static func read(_ path: String, atMost limit: Int, kind: String) throws(TLSError) -> [UInt8] {
        let descriptor = try Self.descriptor(of: path)
        guard let file = fdopen(descriptor, "r") else {
            close(descriptor)
            throw Self.failure(path)
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        // In steps, so that a short file needs little memory.
        var chunk = [UInt8](repeating: 0, count: min(limit + 1, 256 << 10))
        while bytes.count <= limit {
            let count = fread(&chunk, 1, chunk.count, file)
            guard ferror(file) == 0 else { throw Self.failure(path) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: chunk[..<count])
        }
        throw TLSError(kind: .configuration, reason: "\(path): larger than \(kind) can be")
    }

    /// Throws unless the path names a readable regular file; for callers that open the file themselves.
    static func check(_ path: String) throws(TLSError) { close(try Self.descriptor(of: path)) }

    /// Opens a regular file.
    private static func descriptor(of path: String) throws(TLSError) -> Int32 {
        // Without O_NONBLOCK a named pipe would hang the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            let kind = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "not a regular file"
            throw TLSError(kind: .configuration, reason: "\(path): is \(kind)")
        }
        return descriptor
    }

    private static func failure(_ path: String) -> TLSError {
        TLSError(kind: .configuration, reason: "\(path): \(String(cString: strerror(errno)))")
    }
}
