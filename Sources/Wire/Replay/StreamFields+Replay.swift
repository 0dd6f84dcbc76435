import Market

/// The position of a replay in a relay's message.
extension StreamFields {
    /// The position; `nil` if a member other than `end` is missing, or any is invalid.
    var replay: ReplayPosition? {
        guard let start = self.moment("start", unit: 1_000_000), let at = self.moment("at", unit: 1_000_000),
            case .flag(let isPaused) = self.values["paused"]
        else { return nil }
        var end = Int64.max
        if self.values["end"] != nil {
            guard let reported = self.time("end", unit: 1_000_000), reported >= start else { return nil }
            end = reported
        }
        let speed: Double?
        switch self.values["speed"] {
        case .text("max"): speed = nil
        case .number(let number):
            guard let value = Double(number.description), value.isFinite, value > 0 else { return nil }
            speed = value
        case .text, .flag, nil: return nil
        }
        return ReplayPosition(start: start, end: end, at: at, speed: speed, isPaused: isPaused)
    }
}
