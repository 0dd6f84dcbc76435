import Market
import Terminal
import Wire

/// The moment that `--since` names. Dates and times of day are those of the screen's clock, unless a zone follows them.
enum SinceTime {
    static let forms = "22:00, 2h, 2026-11-21, \"2026-11-21 22:00\" or 2026-11-21T22:00:00+01:00"
    private static let day: Int64 = 86_400_000_000_000

    /// Reads a moment, ns since 1970; `nil` if the text has none of the forms, or names no past moment.
    ///
    /// A time of day is the last one that has passed.
    ///
    /// - Parameter now: ns since 1970.
    static func parse(_ text: String, now: Int64, clock: ScreenClock) -> Int64? {
        let text = text.trimmingBlanks().lowercased()
        if let age = ReplayPlaceText.duration(text[...]) { return age > 0 && age <= now ? now - age : nil }
        guard let time = Self.moment(text, now: now, clock: clock), time < now else { return nil }
        return time
    }

    private static func moment(_ text: String, now: Int64, clock: ScreenClock) -> Int64? {
        if text.hasSuffix("z") { return Self.local(String(text.dropLast()), now: now, clock: .utc) }
        if let (rest, offset) = Self.zone(text) {
            return Self.local(rest, now: now, clock: ScreenClock(zone: "\(offset)") { _ in offset })
        }
        return Self.local(text, now: now, clock: clock)
    }

    /// Splits the offset of RFC 3339 off the end of a date with a time: `+01:00`.
    private static func zone(_ text: String) -> (rest: String, offset: Int64)? {
        let tail = text.suffix(6)
        guard text.contains("t"), tail.count == 6, let sign = tail.first, "+-".contains(sign) else { return nil }
        let parts = tail.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hours = Int64(parts[0]), let minutes = Int64(parts[1]), (0..<24).contains(hours),
            (0..<60).contains(minutes)
        else { return nil }
        let offset = (hours * 60 + minutes) * 60_000_000_000
        return (String(text.dropLast(6)), sign == "-" ? -offset : offset)
    }

    private static func local(_ text: String, now: Int64, clock: ScreenClock) -> Int64? {
        let midnight = Self.floor(clock.local(now), to: Self.day)
        guard case .time(let reading) = ReplayPlaceText.parseFixed(text, start: midnight) else { return nil }
        // Milliseconds since 1970 are the same in every zone.
        guard text.contains(where: { ":-".contains($0) }) else { return reading }
        let hasDate = text.contains("-")
        let times = clock.times(ofLocal: reading)
        if hasDate { return times.first }
        // Where clocks are set back, the last of the two readings that has passed counts.
        return times.last { $0 < now } ?? clock.times(ofLocal: reading - Self.day).last
    }

    /// Returns the last midnight of the clock, ns since 1970.
    static func today(_ now: Int64, clock: ScreenClock) -> Int64 { Self.start(ofDay: 0, now, clock) }

    /// Returns the last midnight on which a Monday began, ns since 1970.
    static func week(_ now: Int64, clock: ScreenClock) -> Int64 {
        // 1970-01-01 was a Thursday.
        let days = Self.floor(clock.local(now), to: Self.day) / Self.day
        return Self.start(ofDay: -((days + 3) % 7 + 7) % 7, now, clock)
    }

    private static func start(ofDay day: Int64, _ now: Int64, _ clock: ScreenClock) -> Int64 {
        let midnight = Self.floor(clock.local(now), to: Self.day) + day * Self.day
        return clock.times(ofLocal: midnight).first ?? midnight
    }

    /// Returns the greatest multiple that is not greater.
    static func floor(_ number: Int64, to width: Int64) -> Int64 { number - (number % width + width) % width }
}
