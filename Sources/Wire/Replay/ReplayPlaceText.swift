package import Market

/// Places in a replay as a person or a program writes them.
///
/// `50%` of the way; `90s`, `1m30s` from the recording's start; `+10s`, `-10s` from where it stands; a moment as
/// `2026-01-01T00:01:30Z`, as milliseconds since 1970, or as the time of day `00:01:30` (UTC) when the recording's clock
/// first shows it; `next-gap`.
package enum ReplayPlaceText {
    /// What a place may be, for messages.
    package static let forms = "50%, 90s, +10s, -10s, 00:01:30, 2026-01-01T00:01:30Z or next-gap"
    private static let nanosecondsADay: Int64 = 86_400_000_000_000

    /// Reads a place; `nil` when the text is none.
    ///
    /// - Parameters:
    ///   - start: the recording's wall clock at its start, ns since 1970.
    ///   - at: the recording's wall clock where the replay stands, ns since 1970.
    package static func parse(_ text: String, start: Int64, at: Int64) -> ReplayPlace? {
        guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
        if text == "next-gap" { return .nextGap }
        if text.hasSuffix("%") {
            guard let percent = Self.decimal(text.dropLast()), (0...100).contains(percent) else { return nil }
            return .percent(percent)
        }
        if text.hasPrefix("+") || text.hasPrefix("-") {
            guard let distance = Self.duration(text.dropFirst()) else { return nil }
            let (time, isOut) =
                text.hasPrefix("-")
                ? at.subtractingReportingOverflow(distance) : at.addingReportingOverflow(distance)
            return isOut ? nil : .time(time)
        }
        if let offset = Self.duration(text[...]) { return .offset(offset) }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            guard let milliseconds = Int64(text) else { return nil }
            let (time, isOut) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
            return isOut ? nil : .time(time)
        }
        if let separator = text.firstIndex(where: { $0 == "T" || $0 == " " }) {
            let clock = text[text.index(after: separator)...]
            guard let day = Self.day(text[..<separator]), clock.hasSuffix("Z"),
                let time = Self.timeOfDay(clock.dropLast())
            else { return nil }
            return .time(day * Self.nanosecondsADay + time)
        }
        guard let time = Self.timeOfDay(text[...]) else { return nil }
        let midnight = start - (start % Self.nanosecondsADay + Self.nanosecondsADay) % Self.nanosecondsADay
        return .time(midnight + time < start ? midnight + time + Self.nanosecondsADay : midnight + time)
    }

    /// Reads a span of time, such as `1m30s`, `2.5s` or `250ms`, as ns; the units in order, each with a number.
    package static func duration(_ text: Substring) -> Int64? {
        let units: [(name: String, nanoseconds: Double)] = [
            ("d", 86_400e9), ("h", 3_600e9), ("m", 60e9), ("s", 1e9), ("ms", 1e6),
        ]
        var rest = text
        var total = 0.0
        var before = -1
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let name = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            guard let number = Self.decimal(digits), let unit = units.firstIndex(where: { $0.name == name }),
                unit > before
            else { return nil }
            total += number * units[unit].nanoseconds
            before = unit
            rest = rest.dropFirst(digits.count + name.count)
        }
        // About thirty years, which is longer than there are recordings.
        guard before >= 0, total <= 1e18 else { return nil }
        return Int64(total.rounded())
    }

    /// Digits with a point somewhere between them at most; what else Swift takes for a number is none here.
    private static func decimal(_ text: Substring) -> Double? {
        guard text.utf8.count <= 20, text.first?.isNumber == true, text.last?.isNumber == true,
            text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
        else { return nil }
        return Double(text)
    }

    /// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.fff` as ns.
    private static func timeOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts.dropLast(parts.count - 2).allSatisfy({ $0.utf8.count == 2 }),
            let hours = Self.decimal(parts[0]), let minutes = Self.decimal(parts[1]),
            let seconds = parts.count == 3 ? Self.decimal(parts[2]) : 0,
            hours < 24, minutes < 60, seconds < 60
        else { return nil }
        return Int64(((hours * 60 + minutes) * 60 * 1e9 + seconds * 1e9).rounded())
    }

    /// `yyyy-mm-dd` as days since 1970, by the Gregorian calendar.
    private static func day(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 4, parts[1].utf8.count == 2, parts[2].utf8.count == 2,
            let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2]),
            (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        // Years that begin in March, so that the leap day is the last.
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
