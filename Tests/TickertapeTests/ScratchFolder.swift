import Glibc

/// A temporary folder, which is removed with the object.
final class ScratchFolder {
    let path: String

    init() {
        var name = Array("/tmp/tickertape-tests-XXXXXX".utf8CString)
        self.path = String(cString: mkdtemp(&name)!)
    }

    deinit {
        for entry in self.entries { remove(entry) }
        remove(self.path)
    }

    private var entries: [String] = []

    /// Writes a file and returns its path.
    func file(_ name: String, _ contents: String, mode: mode_t = 0o600) -> String {
        let path = "\(self.path)/\(name)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        precondition(descriptor >= 0, "cannot make \(path)")
        let bytes = Array(contents.utf8)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count)
        fchmod(descriptor, mode)
        close(descriptor)
        self.entries.append(path)
        return path
    }

    /// Creates a folder within and returns its path.
    func folder(_ name: String) -> String {
        let path = "\(self.path)/\(name)"
        mkdir(path, 0o700)
        self.entries.insert(path, at: 0)
        return path
    }
}
