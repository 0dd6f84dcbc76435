import Glibc
import Market

/// The names of new recordings.
enum RecordingName {
    /// Returns `DIRECTORY/tickertape-20261121T053102Z.jsonl` for a wall clock in ns since 1970.
    static func make(in directory: String, at time: Int64) -> String {
        let stamp = UTCText.secondStamp(time).filter { !"-:".contains($0) }
        let folder = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        return "\(folder)/tickertape-\(stamp).jsonl"
    }

    /// Returns an unused name of this form, so that a program that restarts within a second gets a new file.
    static func makeNew(in directory: String, at time: Int64) -> String {
        let path = Self.make(in: directory, at: time)
        let stem = path.dropLast(".jsonl".count)
        let others = (2...99).lazy.map { "\(stem)-\($0).jsonl" }
        return ([path] + others).first { access($0, F_OK) != 0 } ?? path
    }

    /// Returns the recording's path: the given path, or a new name in it if it is a folder.
    static func inFolder(_ path: String, at time: Int64) -> String {
        var status = stat()
        let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        return isFolder || path.hasSuffix("/") ? Self.makeNew(in: path, at: time) : path
    }
}
