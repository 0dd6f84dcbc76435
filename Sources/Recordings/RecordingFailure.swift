import Glibc

/// Why a recording's file cannot be read or made, in one line.
package struct RecordingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// What the system says, after a call that failed.
    static func system(_ what: String, _ path: String, _ code: Int32 = errno) -> RecordingFailure {
        RecordingFailure("cannot \(what) \(path): \(String(cString: strerror(code)))")
    }
}
