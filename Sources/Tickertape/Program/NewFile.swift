import Glibc
import Platform

/// Functions that write new files.
enum NewFile {
    /// Writes a text file atomically. Other processes never see a partial file, or one with more permissions than
    /// `mode`.
    ///
    /// - Parameter replaces: whether to replace an existing file. If not, a file that another process creates meanwhile
    ///   stays as well.
    static func place(_ text: String, at path: String, mode: mode_t, replaces: Bool) throws(OperatorError) {
        do throws(DurableFile.Failure) {
            try DurableFile.write(text, to: path, mode: mode, replaces: replaces)
        } catch {
            throw OperatorError("cannot write \(path): \(error)", status: .failure)
        }
    }

    /// Writes a text file that everybody may read, and replaces an existing one.
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
