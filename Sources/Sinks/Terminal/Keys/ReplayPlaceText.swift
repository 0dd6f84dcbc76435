package import Market

/// A place in a replay as a person types it: `14:03`, `14:03:05.5`, `2026-11-21 14:03`, `+30s`, `-1m30s`, `50%`, `gap`.
///
/// Times are UTC, as everywhere on the screen; a time without a date is the first such in the recording.
package enum ReplayPlaceText {
    /// Why a text is no place, in one line.
    package struct Misfit: Error, Equatable {
        package var reason: String
    }

    package static let usage = "write a time such as 14:03 or 14:03:05 (UTC), +30s, -2m, 50% or gap"

    private static let second: Int64 = 1_000_000_000
    private static let day: Int64 = 86_400 * second

    /// - Parameter position: where the replay stands, for what is relative to that.
    package static func parse(_ text: String, at position: ReplayPosition?) throws(Misfit) -> ReplayPlace {
        let text = text.lowercased().filter { !$0.isWhitespace || $0 == " " }.trimmedOfBlanks
        if ["gap", "next gap"].contains(text) { return .nextGap }
        if text.hasSuffix("%") {
            guard let percent = Self.decimal(text.dropLast()), (0...100).contains(percent) else {
                throw Misfit(reason: "a percentage is 0% to 100%")
            }
            return .percent(percent)
        }
        if let sign = text.first, sign == "+" || sign == "-" {
            guard let span = Self.span(text.dropFirst()) else { throw Misfit(reason: Self.usage) }
            guard let position else { throw Misfit(reason: "the replay has not begun") }
            let (at, overflows) = position.at.addingReportingOverflow(sign == "+" ? span : -span)
            guard !overflows else { throw Misfit(reason: Self.usage) }
            return .time(min(max(at, position.start), position.end))
        }
        return .time(try Self.time(text, at: position))
    }

    private static func time(_ text: String, at position: ReplayPosition?) throws(Misfit) -> Int64 {
        let parts = text.split { $0 == " " || $0 == "t" }
        guard (1...2).contains(parts.count), let last = parts.last, let ofDay = Self.timeOfDay(last) else {
            throw Misfit(reason: Self.usage)
        }
        guard let position else { throw Misfit(reason: "the replay has not begun") }
        var time: Int64
        if parts.count == 2 {
            guard let days = Self.days(parts[0]) else { throw Misfit(reason: "write a date as 2026-11-21") }
            time = days * Self.day + ofDay
        } else {
            let midnight = position.start - Self.modulo(position.start, Self.day)
            time = midnight + ofDay
            // The recording may begin before midnight and the time come after it; the minute of the start is in it.
            if time + 60 * Self.second <= position.start { time += Self.day }
        }
        guard time <= position.end, time + 60 * Self.second > position.start else {
            let from = UTCText.timeOfDay(position.start)
            throw Misfit(reason: "the recording reaches from \(from) to \(UTCText.timeOfDay(position.end)) UTC")
        }
        return max(time, position.start)
    }

    /// `HH:MM`, `HH:MM:SS` or `HH:MM:SS.FFF`, a `Z` at the end or not, as ns of the day.
    private static func timeOfDay(_ text: Substring) -> Int64? {
        let text = text.hasSuffix("z") ? text.dropLast() : text
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hours = Self.whole(parts[0]), let minutes = Self.whole(parts[1]),
            hours < 24, minutes < 60
        else { return nil }
        var seconds = 0.0
        if parts.count == 3 {
            guard let given = Self.decimal(parts[2]), given < 60 else { return nil }
            seconds = given
        }
        return (hours * 3_600 + minutes * 60) * Self.second + Int64(seconds * 1e9)
    }

    /// Days since 1970 of a date in the Gregorian calendar.
    private static func days(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = Self.whole(parts[0]), let month = Self.whole(parts[1]),
            let day = Self.whole(parts[2]), (1970...9_999).contains(year), (1...12).contains(month),
            (1...31).contains(day)
        else { return nil }
        // The year begins with March, so that a leap day is its last.
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    /// `30s`, `1m30s`, `2h`, `500ms`, or seconds without a unit, as ns.
    private static func span(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.count <= 32 else { return nil }
        let units: [(word: String, length: Double)] = [("ms", 1e6), ("h", 3_600e9), ("m", 60e9), ("s", 1e9)]
        var rest = text
        var sum = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let number = Self.decimal(digits) else { return nil }
            rest = rest.dropFirst(digits.count)
            guard let unit = rest.isEmpty ? ("s", 1e9) : units.first(where: { rest.hasPrefix($0.word) }) else {
                return nil
            }
            sum += number * unit.length
            rest = rest.dropFirst(rest.isEmpty ? 0 : unit.word.count)
        }
        return sum <= 1e17 ? Int64(sum) : nil
    }

    private static func whole(_ text: Substring) -> Int64? {
        guard (1...4).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int64(text)
    }

    private static func decimal(_ text: Substring) -> Double? {
        guard (1...16).contains(text.count), text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else {
            return nil
        }
        return Double(text)
    }

    private static func modulo(_ number: Int64, _ divisor: Int64) -> Int64 {
        let rest = number % divisor
        return rest < 0 ? rest + divisor : rest
    }
}

extension String {
    /// The text without blanks at its ends.
    var trimmedOfBlanks: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
