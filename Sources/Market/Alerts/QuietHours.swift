/// A part of every day in which no alerts fire: `22:00-07:00`, by the local clock.
package struct QuietHours: Sendable, Hashable {
    private static let minute: Int64 = 60_000_000_000
    private static let day: Int64 = 1_440

    /// Minutes since midnight. The end is the first minute after the quiet hours.
    package let start: Int
    package let end: Int

    /// Reads `HH:MM-HH:MM`; `nil` if the text has another form or both times are the same.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Self.time(parts[0]), let end = Self.time(parts[1]), start != end else {
            return nil
        }
        self.start = start
        self.end = end
    }

    /// Returns when the quiet hours in force at `time` end, both ns since 1970; `nil` outside of quiet hours.
    ///
    /// - Parameter offset: how far local time is ahead of UTC, ns.
    package func end(at time: Int64, offset: Int64) -> Int64? {
        let (local, overflow) = time.addingReportingOverflow(offset)
        guard !overflow else { return nil }
        let dayLength = Self.day * Self.minute
        let remainder = local % dayLength
        let sinceMidnight = remainder < 0 ? remainder + dayLength : remainder
        let now = sinceMidnight / Self.minute
        let isQuiet =
            self.start < self.end ? self.start <= now && now < self.end : self.start <= now || now < self.end
        guard isQuiet else { return nil }
        let minutes = (Int64(self.end) - now + Self.day) % Self.day
        let (until, tooLate) = time.addingReportingOverflow(minutes * Self.minute - sinceMidnight % Self.minute)
        return tooLate ? nil : until
    }

    private static func time(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = Self.number(parts[0]), let minute = Self.number(parts[1]), hour < 24,
            minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...2).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }
}

extension QuietHours: CustomStringConvertible {
    package var description: String { "\(Self.text(self.start))-\(Self.text(self.end))" }

    private static func text(_ minutes: Int) -> String { "\(Self.two(minutes / 60)):\(Self.two(minutes % 60))" }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
