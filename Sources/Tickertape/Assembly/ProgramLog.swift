import Logging

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
