import Glibc
import Logging
import Terminal

/// Where log lines go.
enum ProgramLog {
    /// To standard error, from `level` on.
    static func make(level: Logger.Level) -> Logger {
        Logger(label: "tickertape") { _ in
            LogLineHandler(logLevel: level, clock: WallClock.now, write: Console.log)
        }
    }

    /// As the settings say: a display tells every state itself, so the log is for those who ask for it, and it never goes into
    /// a picture.
    ///
    /// - Parameter format: of the display, if there is one.
    static func make(_ settings: Settings, format: OutputFormat?) -> Logger {
        let mayLog = settings.isVerbose && !(format == .tui && isatty(STDERR_FILENO) == 1)
        return mayLog ? Self.make(level: settings.logLevel) : Self.silent
    }

    /// Nowhere.
    static let silent = Logger(label: "tickertape") { _ in SwiftLogNoOpLogHandler() }
}
