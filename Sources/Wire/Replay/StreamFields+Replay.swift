import Market

/// What a relay's message says of a replay.
extension StreamFields {
    /// Where the replay stands; `nil` where one of its members but the end is missing, or none that can be.
    var replay: ReplayPosition? {
        guard let start = self.moment("start", unit: 1_000_000), let at = self.moment("at", unit: 1_000_000),
            case .flag(let isPaused) = self.values["paused"]
        else { return nil }
        var end = Int64.max
        if self.values["end"] != nil {
            guard let told = self.time("end", unit: 1_000_000), told >= start else { return nil }
            end = told
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
