import Glibc
import Recordings

/// Names of recording files.
enum RecordingName {
    /// `DIRECTORY/tickertape-20261121T053102Z.jsonl`, by the wall clock (ns since 1970).
    static func make(in directory: String, at time: Int64) -> String {
        var seconds = time_t(time / 1_000_000_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = [Int(parts.tm_year) + 1_900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map(Self.twoDigits).joined()
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.twoDigits(Int($0)) }.joined()
        let folder = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        return "\(folder)/tickertape-\(date)T\(clock)Z.jsonl"
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

    /// The last part of a path.
    static func last(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Files that are made new.
enum NewFile {
    /// Writes a text file under its name all at once: nobody sees a part of it, or a key with more rights than `mode`.
    ///
    /// - Parameter replaces: whether a file that is there makes way; if not it stays, also one that came a moment ago.
    static func place(_ text: String, at path: String, mode: mode_t, replaces: Bool) throws(OperatorError) {
        do throws(DurableFile.Failure) {
            try DurableFile.write(text, to: path, mode: mode, replaces: replaces)
        } catch {
            throw OperatorError("cannot write \(path): \(error)", status: .failure)
        }
    }

    /// Writes a text file that anybody may read, in place of one that is there.
    static func write(_ text: String, to path: String) throws(OperatorError) {
        guard let file = fopen(path, "we") else {
            throw OperatorError("cannot write \(path): \(String(cString: strerror(errno)))", status: .failure)
        }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else {
            throw OperatorError("cannot write \(path): \(String(cString: strerror(errno)))", status: .failure)
        }
    }
}
