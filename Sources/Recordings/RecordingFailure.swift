import Glibc
import Wire

/// The reason why a recording's file cannot be read or made, in one line.
package struct RecordingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// The failure for a file whose header names an unsupported version of the format.
    static func version(_ version: Int, of path: String) -> RecordingFailure {
        guard version < RecordingHeader.currentVersion else {
            return RecordingFailure(
                "\(path) is a recording of version \(version): a newer tickertape is needed to read it"
            )
        }
        return RecordingFailure(
            "\(path) is a recording of version \(version), which is not read any more: `tail -n +2` makes the plain form "
                + "of it, without its gaps"
        )
    }

    /// The failure for a system call that failed, with the text of `errno`.
    static func system(_ what: String, _ path: String, _ code: Int32 = errno) -> RecordingFailure {
        RecordingFailure("cannot \(what) \(path): \(String(cString: strerror(code)))")
    }
}
