import Feeds
import Glibc
import Logging
import NIOCore

/// The two clocks' outer end: the one place that reads the wall clock for the rooms.
enum WallClock {
    /// Nanoseconds since 1970 UTC.
    @Sendable static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Where log lines go.
enum ProgramLog {
    /// To standard error, from `level` on.
    static func make(level: Logger.Level) -> Logger {
        var logger = Logger(label: "tickertape") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = level
        return logger
    }

    /// Nowhere.
    static let silent = Logger(label: "tickertape") { _ in SwiftLogNoOpLogHandler() }
}

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
