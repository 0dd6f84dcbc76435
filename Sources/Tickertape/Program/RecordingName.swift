import Glibc
import Market

/// Names of recording files.
enum RecordingName {
    /// `DIRECTORY/tickertape-20261121T053102Z.jsonl`, by the wall clock (ns since 1970).
    static func make(in directory: String, at time: Int64) -> String {
        let stamp = UTCText.secondStamp(time).filter { !"-:".contains($0) }
        let folder = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        return "\(folder)/tickertape-\(stamp).jsonl"
    }

    /// The same, but a name that nobody has used: a program that is started again within a second has a file of its own.
    static func makeNew(in directory: String, at time: Int64) -> String {
        let path = Self.make(in: directory, at: time)
        let stem = path.dropLast(".jsonl".count)
        let others = (2...99).lazy.map { "\(stem)-\($0).jsonl" }
        return ([path] + others).first { access($0, F_OK) != 0 } ?? path
    }

    /// The file to record to: the path itself, or where that is a folder, a new name in it.
    static func inFolder(_ path: String, at time: Int64) -> String {
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        return isFolder || path.hasSuffix("/") ? Self.makeNew(in: path, at: time) : path
    }
}
