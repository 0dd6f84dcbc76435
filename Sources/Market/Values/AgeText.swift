/// The formatting of time spans as text, with the time until that text changes.
package enum AgeText {
    private static let second: Int64 = 1_000_000_000

    /// Formats a span as `7 s`, `1m05s`, `2h05m` or `3d`, rounded to the nearest second; a negative span counts as
    /// zero.
    package static func words(_ nanoseconds: Int64) -> String {
        let seconds = Self.seconds(nanoseconds)
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60)m\(Self.twoDigits(seconds % 60))s"
        case ..<86_400: "\(seconds / 3_600)h\(Self.twoDigits(seconds / 60 % 60))m"
        default: "\(seconds / 86_400)d"
        }
    }

    /// Formats a span in the same way, but in milliseconds below a second: for messages that are not updated.
    package static func record(_ nanoseconds: Int64) -> String {
        (0..<Self.second).contains(nanoseconds) ? "\(nanoseconds / 1_000_000) ms" : Self.words(nanoseconds)
    }

    /// Returns the span in whole seconds, rounded to the nearest, so that five seconds appear from 4.5 s on.
    package static func seconds(_ nanoseconds: Int64) -> Int64 {
        max(0, nanoseconds / Self.second + (nanoseconds % Self.second >= Self.second / 2 ? 1 : 0))
    }

    /// Returns the time until `words` of a growing span may change, at least 1 ns.
    package static func untilChange(growing nanoseconds: Int64) -> Int64 {
        let past = (nanoseconds % Self.second + Self.second + Self.second / 2) % Self.second
        return Self.second - past
    }

    /// Returns the time until `words` of a shrinking span may change, at least 1 ns; `nil` when the span is over.
    package static func untilChange(shrinking nanoseconds: Int64) -> Int64? {
        guard nanoseconds >= Self.second / 2 else { return nil }
        return (nanoseconds - Self.second / 2) % Self.second + 1
    }

    static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
