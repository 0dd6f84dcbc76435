import Logging
import NIOConcurrencyHelpers

/// The levels of the parts, which may change while loggers use them. May be used on any thread.
final class LogLevels: Sendable {
    private let levels: NIOLockedValueBox<[LogPart: Logger.Level]>

    init(_ levels: [LogPart: Logger.Level]) { self.levels = NIOLockedValueBox(levels) }

    /// The level of a part; `nil` if it does not log.
    subscript(part: LogPart) -> Logger.Level? { self.levels.withLockedValue { $0[part] } }

    /// Replaces all levels.
    func set(_ levels: [LogPart: Logger.Level]) { self.levels.withLockedValue { $0 = levels } }
}
