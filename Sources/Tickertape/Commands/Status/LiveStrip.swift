import Market
import Measurements
import Terminal

/// A drawn strip of a ``LiveTime``: a character for each piece of the time.
struct LiveStrip {
    private static let minute: Int64 = 60_000_000_000
    private static let hour = 60 * minute
    private static let day = 24 * hour
    /// The most characters of a line.
    private static let longest = 72
    /// The room for the times before and behind the characters.
    private static let labels = 14

    private let live: LiveTime
    private let clock: ScreenClock
    private let isUnicode: Bool
    private let longest: Int

    /// - Parameter columns: the width of the terminal; `nil` without one.
    init(_ live: LiveTime, clock: ScreenClock, isUnicode: Bool, columns: Int? = nil) {
        self.longest = min(Self.longest, max(24, (columns ?? .max) - Self.labels))
        self.live = live
        self.clock = clock
        self.isUnicode = isUnicode
    }

    /// The width of a character, ns: an hour, or less for a short time, or a day for a long one.
    private var width: Int64 {
        let span = self.live.to - self.live.from
        for width in [5 * Self.minute, 15 * Self.minute] where span <= Int64(self.longest) * width - width {
            return width
        }
        return span <= 62 * Self.day ? Self.hour : Self.day
    }

    /// The lines: of hours of more than a day, one a day.
    var lines: [String] {
        let width = self.width
        var rows: [(start: Int64, end: Int64, cells: String)] = []
        var local = SinceTime.floor(self.clock.local(self.live.from), to: width)
        while let start = self.clock.times(ofLocal: local).first, start < self.live.to {
            let end = self.clock.times(ofLocal: local + width).first ?? start + width
            let isNew =
                rows.isEmpty || rows[rows.count - 1].cells.count >= self.longest
                || width == Self.hour && self.live.to - self.live.from > Self.day && local % Self.day == 0
            if isNew { rows.append((start, start, "")) }
            let share = self.live.share(from: max(start, self.live.from), to: min(end, self.live.to))
            // An hour that the clocks skip has no character.
            if end > start { rows[rows.count - 1].cells.append(self.glyph(share)) }
            rows[rows.count - 1].end = min(end, self.live.to)
            local += width
        }
        let hasDates = rows.count > 1 || width == Self.day
        let indent = rows.count > 1 && width == Self.hour ? rows.map(\.cells.count).max() ?? 0 : 0
        return rows.enumerated().map { index, row in
            let before = index == 0 ? String(repeating: " ", count: max(0, indent - row.cells.count)) : ""
            return "\(self.label(row.start, hasDates)) \(before)\(row.cells) \(self.label(row.end, hasDates))"
        } + [self.legend(width)]
    }

    private func label(_ time: Int64, _ hasDate: Bool) -> String {
        (hasDate ? "\(self.clock.date(time).suffix(5)) " : "") + self.clock.timeOfDay(time).prefix(5)
    }

    private func glyph(_ share: Double?) -> Character {
        guard let share else { return self.isUnicode ? "·" : "." }
        if share >= 1 { return self.isUnicode ? "█" : "#" }
        if share <= 0 { return self.isUnicode ? "░" : "-" }
        let unicode: [Character] = ["▁", "▁", "▂", "▃", "▄", "▅", "▆", "▇"]
        return self.isUnicode ? unicode[Int(share * 8)] : Character("\(max(1, min(9, Int(share * 10))))")
    }

    private func legend(_ width: Int64) -> String {
        let piece =
            switch width {
            case Self.hour: "an hour"
            case Self.day: "a day"
            default: "\(width / Self.minute) min"
            }
        let levels =
            self.isUnicode
            ? "█ live throughout, ▇ to ▁ in part, ░ not live, · not known"
            : "# live throughout, 9 to 1 tenths of it, - not live, . not known"
        return "each character is \(piece): \(levels)"
    }
}
