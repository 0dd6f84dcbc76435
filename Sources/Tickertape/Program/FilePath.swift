import Glibc

/// The parts of paths of files.
enum FilePath {
    /// The folder of a file; `.` where the path names none.
    static func folder(of path: String) -> String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// The last part of a path.
    static func last(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// A file in the folder of another one.
    static func beside(_ path: String, _ name: String) -> String {
        let folder = self.folder(of: path)
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// The path from the root, which is the same wherever the next program is started.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        // As the folder of a file that is named without one.
        if path == "." { return String(cString: folder) }
        let stripped = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return "\(String(cString: folder))/\(stripped)"
    }
}
