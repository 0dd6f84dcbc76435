import Glibc
import Logging
import Terminal

/// The loggers of the program.
enum ProgramLog {
    /// Returns a logger to standard error, from `level` on.
    static func make(level: Logger.Level) -> Logger {
        Logger(label: "tickertape") { _ in
            LogLineHandler(logLevel: level, clock: WallClock.now, write: Console.log)
        }
    }

    /// Returns the logger that the settings select. A display shows every state, so the log is opt-in, and it never
    /// goes to a terminal with a screen.
    ///
    /// - Parameter format: the display's format; `nil` without a display.
    static func make(_ settings: Settings, format: OutputFormat?) -> Logger {
        let mayLog = settings.isVerbose && !(format == .tui && isatty(STDERR_FILENO) == 1)
        return mayLog ? Self.make(level: settings.logLevel) : Self.silent
    }

    /// A logger that discards everything.
    static let silent = Logger(label: "tickertape") { _ in SwiftLogNoOpLogHandler() }
}
