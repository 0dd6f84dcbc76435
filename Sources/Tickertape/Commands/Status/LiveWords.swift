import Market
import Measurements
import Terminal

extension LiveTime {
    /// The answer to "was it live?" in one line.
    ///
    /// - Parameter clock: the clock of the times in it.
    func answer(_ clock: ScreenClock) -> String {
        let since = "since \(Self.moment(self.from, now: self.to, clock)) (\(clock.label(at: self.from)))"
        guard let known, let share else {
            return
                "nothing is known \(since): no program has written a history (record it: --record, or tickertape record)"
        }
        let start = known > self.from ? "; nothing is known before \(Self.moment(known, now: self.to, clock))" : ""
        guard let longest else { return "live all the time \(since), no gap\(start)" }
        let count = SystemErrorText.count(self.gaps.count, "gap")
        let which = self.gaps.count == 1 ? "" : ", the longest \(Self.length(longest.length))"
        return
            "live \(Self.percent(share)) of the time \(since), \(count), \(Self.length(self.missed))\(which) at "
            + "\(Self.moment(longest.from, now: self.to, clock)): \(longest.reason)\(start)"
    }

    /// Formats a part as `99.97 %`, cut, so that 100 % means all.
    static func percent(_ share: Double) -> String {
        let hundredths = Int(share * 10_000)
        guard hundredths < 10_000 else { return "100 %" }
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) %"
    }

    /// Formats a length as `0.4 s`, `9 s`, `2 min 5 s`, `3 h 12 min`, `5 d 4 h`.
    static func length(_ nanoseconds: Int64) -> String {
        let seconds = (nanoseconds + 500_000_000) / 1_000_000_000
        guard nanoseconds >= 1_000_000_000 else { return "0.\(max(1, nanoseconds / 100_000_000)) s" }
        let units: [(Int64, String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
        guard let place = units.firstIndex(where: { seconds >= $0.0 }) else { return "\(seconds) s" }
        let (size, unit) = units[place]
        let rest = place + 1 < units.count ? seconds % size / units[place + 1].0 : 0
        return "\(seconds / size) \(unit)" + (rest > 0 ? " \(rest) \(units[place + 1].1)" : "")
    }

    /// Formats a moment as `22:00`, `03:12:04`, and with its date if it is more than a day ago.
    static func moment(_ time: Int64, now: Int64, _ clock: ScreenClock) -> String {
        let text = clock.timeOfDay(time)
        let short = text.hasSuffix(":00") ? String(text.prefix(5)) : text
        return now - time > 86_400_000_000_000 ? "\(clock.date(time)) \(short)" : short
    }
}

extension LiveTime {
    /// Reads the answer of `/v1/uptime`.
    init?(_ json: JSONTree) {
        func time(_ json: JSONTree?) -> Int64? { json?.integer.map { $0 * 1_000_000 } }
        guard let from = time(json["since"]), let to = time(json["until"]), let gaps = json["gaps"] else { return nil }
        self.init(
            from: from,
            to: to,
            known: time(json["knownSince"]),
            gaps: gaps.elements.compactMap { gap in
                guard let from = time(gap["from"]), let to = time(gap["to"]), let reason = gap["reason"]?.text else {
                    return nil
                }
                return Gap(from: from, to: to, reason: reason)
            }
        )
    }
}
