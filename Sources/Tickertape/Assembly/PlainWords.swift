import Feeds
import Glibc
import NIOCore

/// An error of the system in the system's words, without the calls and numbers around them.
enum PlainWords {
    static func of(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        return "\(error)"
    }
}

extension OperatorError {
    /// Opens a recording, or says in a line for the person why it cannot be used.
    static func opening(recording path: String) throws(OperatorError) -> RecordingFile {
        do throws(RecordingFile.Failure) {
            return try RecordingFile(path: path)
        } catch {
            throw OperatorError(error.description, status: .failure)
        }
    }
}
