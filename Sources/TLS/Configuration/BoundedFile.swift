internal import Glibc

/// The reading of a small file as a whole, with an error that names it.
enum BoundedFile {
    /// Reads at most `limit` bytes; throws ``TLSError/Kind/configuration`` for a larger file, or one that cannot be read.
    static func read(_ path: String, atMost limit: Int, kind: String) throws(TLSError) -> [UInt8] {
        guard let file = fopen(path, "re") else { throw Self.failure(path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        // In steps, so that a short file costs little.
        var chunk = [UInt8](repeating: 0, count: min(limit + 1, 256 << 10))
        while bytes.count <= limit {
            let count = fread(&chunk, 1, chunk.count, file)
            guard ferror(file) == 0 else { throw Self.failure(path) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: chunk[..<count])
        }
        throw TLSError(kind: .configuration, reason: "\(path): larger than \(kind) can be")
    }

    private static func failure(_ path: String) -> TLSError {
        TLSError(kind: .configuration, reason: "\(path): \(String(cString: strerror(errno)))")
    }
}
