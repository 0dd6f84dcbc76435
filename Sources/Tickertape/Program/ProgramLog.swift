import Glibc
import Logging
import Terminal

/// The loggers of a program, one for each part.
struct ProgramLog: Sendable {
    /// The levels in force. They may be replaced while the program runs.
    let levels: LogLevels

    /// Creates the log that the settings select. A display shows every state, so the log is opt-in, and it never goes
    /// to a terminal with a screen. Errors of the relay are always logged.
    ///
    /// - Parameter format: the display's format; `nil` without a display.
    init(_ settings: Settings, format: OutputFormat?) {
        self.levels = LogLevels(Self.levels(settings, format: format))
    }

    /// Creates a log in which every part has its level.
    init(_ settings: LogSettings) { self.levels = LogLevels(Self.all(settings)) }

    /// Returns the levels that the settings select, for ``LogLevels/set(_:)``.
    static func levels(_ settings: Settings, format: OutputFormat?) -> [LogPart: Logger.Level] {
        var levels = settings.isVerbose ? self.all(settings.log) : [.relay: .error, .tls: .error]
        if format == .tui, isatty(STDERR_FILENO) == 1 {
            levels = levels.filter { $0.key == .relay || $0.key == .tls }
        }
        return levels
    }

    private static func all(_ settings: LogSettings) -> [LogPart: Logger.Level] {
        Dictionary(uniqueKeysWithValues: LogPart.allCases.map { ($0, settings.level(of: $0)) })
    }

    /// Returns the logger of a part.
    ///
    /// - Parameter isLimited: whether equal messages are limited; `false` for a user that limits them by itself.
    func logger(_ part: LogPart, isLimited: Bool = true) -> Logger {
        let wants: @Sendable (RepeatedMessages.Key) -> Bool = { key in !isLimited || Console.wants(key) }
        return Logger(label: "tickertape.\(part.rawValue)") { _ in
            PartLogHandler(part, levels: self.levels, clock: WallClock.now, wants: wants, write: Console.log)
        }
    }

    /// A logger that discards everything.
    static let silent = Logger(label: "tickertape") { _ in SwiftLogNoOpLogHandler() }
}
