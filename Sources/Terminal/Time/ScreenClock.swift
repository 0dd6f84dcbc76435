import Market

/// The wall clock of the screen: moments as text in one time zone. Lines, files and logs have UTC.
package struct ScreenClock: Sendable, Equatable {
    package static let utc = ScreenClock(zone: "UTC") { _ in 0 }

    /// The zone's name, by which clocks are equal.
    private let zone: String
    private let offset: @Sendable (Int64) -> Int64

    /// - Parameter offset: returns how far the zone is ahead of UTC at a time (ns since 1970), ns.
    package init(zone: String, offset: @escaping @Sendable (Int64) -> Int64) {
        self.zone = zone
        self.offset = offset
    }

    package static func == (left: ScreenClock, right: ScreenClock) -> Bool { left.zone == right.zone }

    /// Formats ns since 1970 as `2026-11-21`.
    package func date(_ time: Int64) -> String { UTCText.date(self.local(time)) }

    /// Formats ns since 1970 as `05:31:02`.
    package func timeOfDay(_ time: Int64) -> String { UTCText.timeOfDay(self.local(time)) }

    /// Formats ns since 1970 as `05:31`.
    func minute(_ time: Int64) -> String { String(self.timeOfDay(time).prefix(5)) }

    /// Formats ns since 1970 as `05:31:02.123`.
    func preciseTimeOfDay(_ time: Int64) -> String { UTCText.preciseTimeOfDay(self.local(time)) }

    /// Returns the name of the zone's offset at a time: `UTC`, `UTC+1`, `UTC-3:30`.
    package func label(at time: Int64) -> String {
        let minutes = self.offset(time) / 60_000_000_000
        guard minutes != 0 else { return "UTC" }
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        let fraction = rest == 0 ? "" : ":\(rest < 10 ? "0" : "")\(rest)"
        return "UTC\(minutes < 0 ? "-" : "+")\(hours)\(fraction)"
    }

    /// Returns the reading of the zone's clocks at a time, as ns since its 1970-01-01 00:00.
    package func local(_ time: Int64) -> Int64 { time.addingCapped(self.offset(time)) }

    /// Returns the times at which the zone's clocks show `local`, the earliest first: two where they are set back. Where
    /// they skip the reading, this is the time at which they would show it without the change.
    package func times(ofLocal local: Int64) -> [Int64] {
        // A zone changes its offset at most once within a day, and its offset is less than a day.
        let day: Int64 = 86_400_000_000_000
        let before = local.subtractingCapped(self.offset(local.subtractingCapped(day)))
        let after = local.subtractingCapped(self.offset(local.addingCapped(day)))
        let times = [before, after].filter { self.local($0) == local }
        return times.isEmpty ? [before] : Set(times).sorted()
    }
}
