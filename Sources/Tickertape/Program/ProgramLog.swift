import Logging

/// Where log lines go.
enum ProgramLog {
    /// To standard error, from `level` on.
    static func make(level: Logger.Level) -> Logger {
        Logger(label: "tickertape") { _ in
            LogLineHandler(logLevel: level, clock: WallClock.now, write: Console.log)
        }
    }

    /// Nowhere.
    static let silent = Logger(label: "tickertape") { _ in SwiftLogNoOpLogHandler() }
}
