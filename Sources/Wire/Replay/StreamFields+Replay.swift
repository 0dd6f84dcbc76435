import Market

/// What a relay's message says of a replay.
extension StreamFields {
    /// Where the replay stands; `nil` where one of its members is missing or none that can be.
    var replay: ReplayPosition? {
        guard let start = self.moment("start", unit: 1_000_000), let end = self.time("end", unit: 1_000_000),
            let at = self.moment("at", unit: 1_000_000), case .flag(let isPaused) = self.values["paused"], end >= start
        else { return nil }
        let speed: Double?
        switch self.values["speed"] {
        case .text("max"): speed = nil
        case .number(let number):
            guard let value = Double(number.description), value.isFinite, value > 0 else { return nil }
            speed = value
        case .text, .flag, nil: return nil
        }
        // A market that is simulated has no end, and of its number only whole milliseconds are told.
        let hasEnd = end <= Int64.max / 2
        return ReplayPosition(start: start, end: hasEnd ? end : .max, at: at, speed: speed, isPaused: isPaused)
    }
}
