import Glibc
import Recordings

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
