import Logging
import Market

/// The limit of equal messages: `most` of each a minute; the rest are counted.
///
/// A state machine of bounded size; time is monotonic ns. A minute begins with its first message.
struct RepeatedMessages: Sendable {
    /// What makes messages equal: everything but their metadata.
    struct Key: Hashable, Sendable {
        var part: LogPart
        var level: Logger.Level
        /// Empty for all messages of the part that have no place of their own.
        var message: String
    }

    /// A count of messages that were left out.
    struct Count: Equatable, Sendable {
        var key: Key
        var number: Int
    }

    private struct Minute {
        var allowance: LogAllowance
        var leftOut = 0
    }

    static let interval: Int64 = 60_000_000_000
    /// The largest number of different messages that are counted one by one.
    static let maximumKeys = 256

    private let most: Int
    private var minutes: [Key: Minute] = [:]

    init(most: Int) { self.most = most }

    /// The number of different messages that are counted now.
    var keyCount: Int { self.minutes.count }

    /// When the next count is due, monotonic ns; `nil` if nothing was left out.
    var deadline: Int64? { self.minutes.values.lazy.filter { $0.leftOut > 0 }.map(\.allowance.reopens).min() }

    /// Returns whether a message is written; otherwise it is counted.
    mutating func isWanted(_ key: Key, now: Int64) -> Bool {
        var key = key
        if self.minutes[key] == nil, self.minutes.count >= Self.maximumKeys {
            self.minutes = self.minutes.filter { $0.value.leftOut > 0 || now < $0.value.allowance.reopens }
            if self.minutes.count >= Self.maximumKeys { key.message = "" }
        }
        var minute = self.minutes[key] ?? Minute(allowance: LogAllowance(most: self.most, interval: Self.interval))
        let isWanted = minute.allowance.wanted(now: now) != nil
        if !isWanted { minute.leftOut += 1 }
        self.minutes[key] = minute
        return isWanted
    }

    /// Returns the counts of the minutes that have ended, in a fixed order.
    mutating func takeEnded(now: Int64) -> [Count] {
        let ended = self.minutes.filter { now >= $0.value.allowance.reopens }
        for key in ended.keys { self.minutes[key] = nil }
        return Self.counts(ended)
    }

    /// Returns the counts of all minutes, at the end of the program.
    mutating func takeAll() -> [Count] {
        defer { self.minutes = [:] }
        return Self.counts(self.minutes)
    }

    private static func counts(_ minutes: [Key: Minute]) -> [Count] {
        minutes.filter { $0.value.leftOut > 0 }.map { Count(key: $0.key, number: $0.value.leftOut) }
            .sorted { one, other in
                (one.key.part.rawValue, one.key.message, one.key.level.rawValue)
                    < (other.key.part.rawValue, other.key.message, other.key.level.rawValue)
            }
    }
}

extension LogRecord {
    /// Creates the message of a count.
    init(_ count: RepeatedMessages.Count, time: Int64) {
        self.init(
            time: time,
            level: count.key.level,
            part: count.key.part,
            message: "Repeated messages were left out",
            facts: [
                Fact(name: "count", value: "\(count.number)"),
                Fact(name: "message", value: count.key.message.isEmpty ? "various" : count.key.message),
            ]
        )
    }
}
