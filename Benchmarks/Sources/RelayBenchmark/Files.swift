import Glibc

/// Reads and writes of whole files.
enum FileText {
    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    static func append(_ text: String, to path: String) throws {
        guard let file = fopen(path, "ab") else { throw BenchmarkFailure.call(path) }
        defer { fclose(file) }
        guard fputs(text, file) >= 0 else { throw BenchmarkFailure.call(path) }
    }
}

/// A folder that is removed after the run.
final class ScratchFolder {
    let path: String
    private var count = 0
    private var files: [String] = []

    init() throws {
        let root = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(root)/relay-benchmark-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw BenchmarkFailure.call("mkdtemp") }
        self.path = String(cString: made)
    }

    /// Returns an unused path.
    func file(_ name: String) -> String {
        self.count += 1
        let path = "\(self.path)/\(self.count)-\(name)"
        self.files.append(path)
        return path
    }

    /// Registers a file that a program creates here, so that it is removed, too.
    func willHold(_ path: String) { self.files.append(path) }

    deinit {
        for file in self.files { unlink(file) }
        rmdir(self.path)
    }
}
