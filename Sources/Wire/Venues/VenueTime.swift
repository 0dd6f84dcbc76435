import Market

/// The times in the venues' frames, as ns since 1970 UTC.
///
/// A time is valid as ``FinnhubTime`` says: after 1970, with nanoseconds that fit an `Int64` (in the year 2262).
enum VenueTime {
    private static let day: Int64 = 86_400_000_000_000

    /// Converts Binance's integer times: milliseconds, or microseconds (`timeUnit=MICROSECOND`), which have 16 digits.
    /// Milliseconds of 16 digits would be far beyond the valid times.
    static func nanoseconds(_ number: Int64) -> Int64? {
        let microseconds: Int64 = 1_000_000_000_000_000
        guard number >= microseconds else { return FinnhubTime.nanoseconds(number) }
        return number <= Int64.max / 1_000 ? number * 1_000 : nil
    }

    /// Reads the JSON number of a time in seconds with a fraction, such as `1790359840.9392912` (Kraken's REST service),
    /// from its digits; those beyond a nanosecond are cut. `nil` for anything else, and for a number with an exponent that
    /// is no whole number of nanoseconds.
    static func nanoseconds(seconds text: UnsafeRawBufferPointer) -> Int64? {
        guard let point = text.firstIndex(of: UInt8(ascii: ".")),
            text.count > point + 1, point <= 10, let whole = self.digits(text, 0..<point),
            text[(point + 1)...].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            // A whole number, or one with an exponent.
            guard let number = ExactDecimal(utf8: text),
                let scaled = ExactDecimal(significand: number.significand, exponent: Int(number.exponent) + 9)
            else { return nil }
            return Int64(exactly: scaled).flatMap { $0 > 0 ? $0 : nil }
        }
        let count = min(text.count - point - 1, 9)
        guard var fraction = self.digits(text, point + 1..<point + 1 + count) else { return nil }
        for _ in count..<9 { fraction *= 10 }
        let (start, isOut) = whole.multipliedReportingOverflow(by: 1_000_000_000)
        return isOut ? nil : self.sum(start, fraction)
    }

    /// Reads a time such as `2026-08-25T03:35:57.198335Z` (RFC 3339, 5.6): UTC, in capital letters, with a fraction of
    /// at most 9 digits or without one. `nil` for anything else, for a date or a time of day that does not exist, and
    /// for leap seconds, which have no number.
    static func nanoseconds(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard
            text.count >= 20, text[10] == "T", let day = self.startOfDay(text),
            text[13] == ":", text[16] == ":", text[text.count - 1] == "Z",
            let hour = self.digits(text, 11..<13), hour < 24,
            let minute = self.digits(text, 14..<16), minute < 60,
            let second = self.digits(text, 17..<19), second < 60
        else { return nil }
        var fraction: Int64 = 0
        if text.count > 20 {
            let count = text.count - 21
            guard text[19] == ".", count > 0, count <= 9, let digits = self.digits(text, 20..<20 + count)
            else { return nil }
            fraction = digits
            for _ in count..<9 { fraction *= 10 }
        }
        return self.sum(day, ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + fraction)
    }

    /// Reads the date at the start of a text of at least 10 bytes, and returns the start of that day.
    ///
    /// - Returns: `nil` unless the day exists and lies in the years 1970 to 2262.
    static func startOfDay(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard
            text[4] == "-", text[7] == "-",
            let year = self.digits(text, 0..<4), (1_970...2_262).contains(year),
            let month = self.digits(text, 5..<7), (1...12).contains(month),
            let dayOfMonth = self.digits(text, 8..<10), dayOfMonth >= 1,
            dayOfMonth <= self.days(in: month, of: year)
        else { return nil }
        let (start, overflow) = UTCText.days(year: year, month: month, day: dayOfMonth)
            .multipliedReportingOverflow(by: Self.day)
        return overflow ? nil : start
    }

    /// Adds the time since midnight to the start of a day; `nil` if the time is not valid.
    @inline(__always)
    static func sum(_ startOfDay: Int64, _ sinceMidnight: Int64) -> Int64? {
        let (time, overflow) = startOfDay.addingReportingOverflow(sinceMidnight)
        return overflow || time <= 0 ? nil : time
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func digits(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int64? {
        var number: Int64 = 0
        for index in range {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }
}
