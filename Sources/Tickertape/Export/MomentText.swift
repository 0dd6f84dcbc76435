/// Moments as a person names them: `2026-11-21T05:00:00Z` (RFC 3339, UTC, with a fraction or without), `2026-11-21`, or
/// milliseconds since 1970.
enum MomentText {
    /// The moment in ns since 1970; `nil` for a text that is none, or one before 1970 or behind 2261.
    static func read(_ text: String) -> Int64? {
        if let milliseconds = Int(digits: text), text.utf8.count > 8 {
            return Int64(milliseconds) <= Int64.max / 1_000_000 ? Int64(milliseconds) * 1_000_000 : nil
        }
        let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, date[0].utf8.count == 4, date[1].utf8.count == 2, date[2].utf8.count == 2,
            let year = Int(digits: date[0]), let month = Int(digits: date[1]), let day = Int(digits: date[2]),
            (1970...2261).contains(year), (1...12).contains(month), (1...Self.days(of: month, year)).contains(day)
        else { return nil }
        var time: Int64 = 0
        if parts.count == 2 {
            guard let clock = Self.clock(parts[1]) else { return nil }
            time = clock
        }
        return Int64(Self.dayNumber(year, month, day)) * 86_400_000_000_000 + time
    }

    /// `05:00:00Z` or `05:00:00.25Z` in ns.
    private static func clock(_ text: Substring) -> Int64? {
        guard text.last == "Z" || text.last == "z" else { return nil }
        let halves = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fields = halves[0].split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count == 3, fields.allSatisfy({ $0.utf8.count == 2 }),
            let hours = Int(digits: fields[0]), let minutes = Int(digits: fields[1]),
            let seconds = Int(digits: fields[2]),
            hours < 24, minutes < 60, seconds < 60
        else { return nil }
        var fraction: Int64 = 0
        if halves.count == 2 {
            guard (1...9).contains(halves[1].utf8.count), let digits = Int(digits: halves[1]),
                !halves[1].utf8.contains(UInt8(ascii: "_"))
            else { return nil }
            fraction = Int64(digits)
            for _ in halves[1].utf8.count..<9 { fraction *= 10 }
        }
        return Int64((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + fraction
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Days since 1970 of a date of the Gregorian calendar; a year begins in March here, so that a leap day is its last.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
