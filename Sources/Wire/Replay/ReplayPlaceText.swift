package import Market

/// The text form of places in a replay, for commands, requests, URLs and the screen.
///
/// - `50%` of the length
/// - `90s`, `1m30s` from the recording's start
/// - `+10s`, `-10s`, `+1.5` (seconds) from the current position
/// - a moment as `2026-01-01T00:01:30Z` or `2026-01-01 00:01` (UTC with and without the `Z`)
/// - the start of a day, `2026-01-01`
/// - milliseconds since 1970 (at least twelve digits)
/// - the first time at which the recording's clock shows the time of day `00:01:30` (UTC)
/// - `next-gap`, or `gap` for short
///
/// Upper and lower case are equal, and spaces at the ends are ignored.
package enum ReplayPlaceText {
    /// The forms of a place, for messages.
    package static let forms = "50%, 90s, +10s, -10s, 00:01:30, 2026-01-01T00:01:30Z or next-gap"
    /// The forms of a place that does not depend on the current position.
    package static let fixedForms = "90s, 50%, 14:30:00, 2026-01-01T14:30:00Z, 2026-01-01 or milliseconds since 1970"
    private static let second: Int64 = 1_000_000_000
    private static let minute: Int64 = 60 * second
    private static let day: Int64 = 86_400 * second
    private static let longest = 64
    /// The smallest number of milliseconds, in March 1973. Smaller numbers are refused, because a user who writes `90`
    /// means seconds.
    private static let fewestMilliseconds: Int64 = 100_000_000_000

    /// Reads a place; `nil` if the text has none of the forms.
    ///
    /// - Parameters:
    ///   - start: the recording's wall clock at its start, ns since 1970.
    ///   - at: the recording's wall clock at the current position, ns since 1970.
    package static func parse(_ text: String, start: Int64, at: Int64) -> ReplayPlace? {
        guard text.utf8.count <= Self.longest else { return nil }
        let text = Self.trimmed(text.lowercased()[...])
        guard !text.isEmpty else { return nil }
        if ["next-gap", "next gap", "gap"].contains(text) { return .nextGap }
        if text.hasSuffix("%") {
            guard let percent = Self.decimal(text.dropLast()), (0...100).contains(percent) else { return nil }
            return .percent(percent)
        }
        if text.hasPrefix("+") || text.hasPrefix("-") {
            guard let distance = Self.span(text.dropFirst(), hasBareSeconds: true) else { return nil }
            let (time, isOut) =
                text.hasPrefix("-")
                ? at.subtractingReportingOverflow(distance) : at.addingReportingOverflow(distance)
            return isOut ? nil : .time(time)
        }
        if let offset = Self.duration(text) { return .offset(offset) }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            guard let milliseconds = Int64(text), milliseconds >= Self.fewestMilliseconds else { return nil }
            let (time, isOut) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
            return isOut ? nil : .time(Self.reaching(start, from: time, width: 1_000_000))
        }
        return Self.moment(text, start: start)
    }

    /// Reads a place that does not depend on the current position; `nil` if the text has none of the forms.
    package static func parseFixed(_ text: String, start: Int64) -> ReplayPlace? {
        let first = text.first { !$0.isWhitespace }
        guard first != "+", first != "-", let place = Self.parse(text, start: start, at: start), place != .nextGap
        else { return nil }
        return place
    }

    /// Reads a span of time, such as `1m30s`, `2.5s` or `250ms`, as ns. Each unit has a number, and the units are in
    /// descending order.
    package static func duration(_ text: Substring) -> Int64? { Self.span(text, hasBareSeconds: false) }

    private static func span(_ text: Substring, hasBareSeconds: Bool) -> Int64? {
        let units: [(name: String, nanoseconds: Double)] = [
            ("d", 86_400e9), ("h", 3_600e9), ("m", 60e9), ("s", 1e9), ("ms", 1e6),
        ]
        var rest = text
        var total = 0.0
        var before = -1
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            var name = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(digits.count + name.count)
            if hasBareSeconds, rest.isEmpty, name.isEmpty { name = "s" }
            guard let number = Self.decimal(digits), let unit = units.firstIndex(where: { $0.name == name }),
                unit > before
            else { return nil }
            total += number * units[unit].nanoseconds
            before = unit
        }
        // About 30 years, longer than any recording.
        guard before >= 0, total <= 1e18 else { return nil }
        return Int64(total.rounded())
    }

    /// Reads a time of day with or without a date before it.
    private static func moment(_ text: Substring, start: Int64) -> ReplayPlace? {
        if let day = Self.day(text) { return .time(day * Self.day) }
        var clock = text
        var day: Int64?
        if let separator = text.firstIndex(where: { $0 == "t" || $0 == " " }) {
            clock = text[text.index(after: separator)...]
            day = Self.day(text[..<separator])
            guard day != nil else { return nil }
        }
        if clock.hasSuffix("z") { clock = clock.dropLast() }
        guard let (time, width) = Self.timeOfDay(clock) else { return nil }
        // A recording may have any start. The days before and after it must still fit.
        let start = min(max(start, .min + 2 * Self.day), .max - 2 * Self.day)
        let midnight = start - (start % Self.day + Self.day) % Self.day
        let moment = (day.map { $0 * Self.day } ?? midnight) + time
        let reached = Self.reaching(start, from: moment, width: width)
        return .time(day == nil && reached < start ? reached + Self.day : reached)
    }

    /// Returns a moment that was written with a precision of `width`. If the recording begins within that minute,
    /// second or fraction of one, it is the recording's start.
    private static func reaching(_ start: Int64, from moment: Int64, width: Int64) -> Int64 {
        let (past, isOut) = start.subtractingReportingOverflow(moment)
        return !isOut && past > 0 && past < width ? start : moment
    }

    /// Reads digits with at most one point between them, and nothing else that Swift accepts as a number.
    private static func decimal(_ text: Substring) -> Double? {
        guard text.utf8.count <= 20, text.first?.isNumber == true, text.last?.isNumber == true,
            text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
        else { return nil }
        return Double(text)
    }

    /// Reads `hh:mm`, `hh:mm:ss` or `hh:mm:ss.fff` as ns, with the time for which a clock shows it; the hours may have
    /// one digit.
    private static func timeOfDay(_ text: Substring) -> (time: Int64, width: Int64)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            let hours = Self.whole(parts[0]), let minutes = Self.whole(parts[1]),
            let seconds = parts.count == 3 ? Self.decimal(parts[2]) : 0,
            hours < 24, minutes < 60, seconds < 60
        else { return nil }
        let time = (hours * 60 + minutes) * Self.minute + Int64((seconds * 1e9).rounded())
        guard parts.count == 3 else { return (time, Self.minute) }
        let digits = parts[2].utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst().count
        return (time, (0..<digits).reduce(Self.second) { width, _ in max(width / 10, 1) })
    }

    private static func whole(_ text: Substring) -> Int64? {
        text.allSatisfy { $0.isASCII && $0.isNumber } ? Int64(text) : nil
    }

    /// Reads `yyyy-mm-dd` as days since 1970, by the Gregorian calendar.
    private static func day(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 4, (1...2).contains(parts[1].utf8.count),
            (1...2).contains(parts[2].utf8.count),
            let year = Self.whole(parts[0]), let month = Self.whole(parts[1]), let day = Self.whole(parts[2]),
            (1970...2200).contains(year), (1...12).contains(month), (1...Self.days(of: month, year)).contains(day)
        else { return nil }
        return UTCText.days(year: year, month: month, day: day)
    }

    private static func days(of month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
