import Market

/// A time in HTTP's notation, in all three forms that a recipient must accept (RFC 9110, 5.6.7).
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// Reads a time as seconds since 1970 UTC; `nil` if the text is not a time.
    ///
    /// - Parameter now: seconds since 1970 UTC; only the form with a two-digit year needs it.
    static func parse(_ text: some StringProtocol, now: Int64) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let parts = String(text).split(separator: " ").map(String.init)
        guard let day = parts.first, Self.days.contains(where: day.hasPrefix) else { return nil }
        if parts.count == 6, day.hasSuffix(","), parts[5] == "GMT" {
            // Sun, 06 Nov 1994 08:49:37 GMT
            guard parts[3].utf8.count == 4, let year = Self.digits(parts[3]) else { return nil }
            return Self.seconds(year: year, month: parts[2], day: parts[1], time: parts[4])
        }
        if parts.count == 4, day.hasSuffix(","), parts[3] == "GMT" {
            // Sunday, 06-Nov-94 08:49:37 GMT
            let date = parts[1].split(separator: "-").map(String.init)
            guard date.count == 3, date[2].utf8.count == 2, let short = Self.digits(date[2]) else { return nil }
            let read = { (year: Int64) in Self.seconds(year: year, month: date[1], day: date[0], time: parts[2]) }
            // A time more than 50 years ahead means the same digits of the previous century (RFC 9110, 5.6.7).
            let century = (1970 + now / 31_556_952) / 100 * 100
            guard let time = read(century + short) else { return nil }
            return time - now > 50 * 31_556_952 ? read(century + short - 100) : time
        }
        if parts.count == 5, !day.hasSuffix(",") {
            // Sun Nov  6 08:49:37 1994
            guard parts[4].utf8.count == 4, let year = Self.digits(parts[4]) else { return nil }
            return Self.seconds(year: year, month: parts[1], day: parts[2], time: parts[3])
        }
        return nil
    }

    private static func seconds(year: Int64, month: String, day: String, time: String) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = Self.months.firstIndex(of: month), (1...2).contains(day.utf8.count),
            let day = Self.digits(day), (1...31).contains(day), clock.count == 3,
            clock.allSatisfy({ $0.utf8.count == 2 }), let hour = Self.digits(clock[0]), hour < 24,
            let minute = Self.digits(clock[1]), minute < 60, let second = Self.digits(clock[2]), second <= 60
        else { return nil }
        let days = UTCText.days(year: year, month: Int64(month) + 1, day: day)
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func digits(_ text: some StringProtocol) -> Int64? {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return Int64(text)
    }
}
