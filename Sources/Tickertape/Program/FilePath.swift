import Glibc

/// Operations on file paths.
enum FilePath {
    /// Returns the folder of a file; `.` if the path has no folder.
    static func folder(of path: String) -> String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Returns the last component of a path.
    static func last(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Returns the path of another file in the same folder.
    static func beside(_ path: String, _ name: String) -> String {
        let folder = self.folder(of: path)
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the absolute path, which holds in any working directory.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        // `folder(of:)` returns this for a bare file name.
        if path == "." { return String(cString: folder) }
        let stripped = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return "\(String(cString: folder))/\(stripped)"
    }
}
