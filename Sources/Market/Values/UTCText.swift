/// UTC times as text by the proleptic Gregorian calendar, without a formatter or a locale.
package enum UTCText {
    private static let day: Int64 = 86_400_000_000_000

    /// Formats ns since 1970 as `2026-11-21T05:31:02.123Z` (RFC 3339), cut to milliseconds.
    package static func timestamp(_ nanoseconds: Int64) -> String {
        let (days, rest) = Self.split(nanoseconds)
        let (year, month, dayOfMonth) = Self.civil(days)
        let milliseconds = rest / 1_000_000 % 1_000
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))"
        return "\(date)T\(Self.clock(rest)).\(Self.padded(milliseconds, 3))Z"
    }

    /// Formats ns since 1970 as `2026-11-21T05:31:02Z`, cut to seconds.
    package static func secondStamp(_ nanoseconds: Int64) -> String {
        "\(Self.date(nanoseconds))T\(Self.timeOfDay(nanoseconds))Z"
    }

    /// Formats ns since 1970 as `2026-11-21`.
    package static func date(_ nanoseconds: Int64) -> String { String(Self.timestamp(nanoseconds).prefix(10)) }

    /// Formats ns since 1970 as `05:31:02.123`.
    package static func preciseTimeOfDay(_ nanoseconds: Int64) -> String {
        let rest = Self.split(nanoseconds).rest
        return "\(Self.clock(rest)).\(Self.padded(rest / 1_000_000 % 1_000, 3))"
    }

    /// Formats ns since 1970 as `05:31:02`.
    package static func timeOfDay(_ nanoseconds: Int64) -> String {
        Self.clock(Self.split(nanoseconds).rest)
    }

    /// Returns the days from 1970-01-01 to a date; the month and the day count from 1. Years begin in March here, so that
    /// the leap day is the last.
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func split(_ nanoseconds: Int64) -> (days: Int64, rest: Int64) {
        let (days, rest) = nanoseconds.quotientAndRemainder(dividingBy: Self.day)
        return rest < 0 ? (days - 1, rest + Self.day) : (days, rest)
    }

    private static func clock(_ rest: Int64) -> String {
        let seconds = rest / 1_000_000_000
        return "\(Self.padded(seconds / 3_600, 2)):\(Self.padded(seconds / 60 % 60, 2)):\(Self.padded(seconds % 60, 2))"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Returns the date of a day counted from 1970-01-01: the inverse of ``days(year:month:day:)``.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
