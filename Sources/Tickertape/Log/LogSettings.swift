package import Logging

/// How the program logs.
package struct LogSettings: Sendable, Equatable {
    package var level: Logger.Level
    /// The levels of the parts that have another one.
    package var levels: [LogPart: Logger.Level] = [:]
    package var format = LogFormat.auto
    /// The most equal messages of a part a minute; `nil` for any number.
    package var repeats: Int? = 20

    package init(level: Logger.Level = .info) { self.level = level }

    /// Returns the level of a part.
    package func level(of part: LogPart) -> Logger.Level { self.levels[part] ?? self.level }

    /// The level that a part has by itself; `nil` if it has the usual one.
    package subscript(part part: LogPart) -> Logger.Level? {
        get { self.levels[part] }
        set { self.levels[part] = newValue }
    }
}

/// The chosen form of the log.
package enum LogFormat: String, Sendable, CaseIterable {
    /// The journal's fields where standard error is the journal, otherwise text.
    case auto
    case text
    case journal
    case json
}
