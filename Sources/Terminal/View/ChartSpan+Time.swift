import Market

extension ChartSpan {
    /// The span, ns; `nil` for the session.
    var length: Int64? {
        switch self {
        case .session: nil
        case .minute: 60_000_000_000
        case .fiveMinutes: 300_000_000_000
        case .hour: 3_600_000_000_000
        case .day: 86_400_000_000_000
        }
    }

    /// The short name: `session`, `1m`, `5m`, `1h`, `1d`.
    var word: String { self.length.map(AlertSpan.write) ?? "session" }

    /// Returns the time range of a chart with `columns` points at `now`.
    ///
    /// The range ends at the next of some twenty even marks, not at `now`. The chart therefore stands still while its
    /// newest point advances, and shifts only twenty times in its span.
    func stretch(now: Int64, start: Int64, columns: Int) -> Range<Int64> {
        guard let length = self.length else {
            let age = max(now - start, 1)
            let step = Self.even(max(age / 20, 2_000_000_000))
            let end = start + (age / step + 1) * step
            return start..<end
        }
        let step = Self.even(length / 20)
        let end = (now / step + 1) * step
        return (end - length)..<end
    }

    /// Returns the time range of a small chart with `columns` points at `now`: whole periods of an even length, so that
    /// a period keeps its place among the others, and its shape, until it leaves the chart.
    func periods(now: Int64, start: Int64, columns: Int) -> Range<Int64> {
        let count = Int64(max(columns, 1))
        // The session's periods become longer while it grows.
        let length = self.length ?? max(now - start, 1)
        var period = Self.even(length / count)
        if self == .session, (now / period + 1) * period - count * period > start { period *= 2 }
        let end = (now / period + 1) * period
        return (end - count * period)..<end
    }

    /// Returns the smallest power of two in seconds that is at least `span`; ns.
    private static func even(_ span: Int64) -> Int64 {
        var step: Int64 = 1_000_000_000
        while step < span, step < Int64.max / 4 { step *= 2 }
        return step
    }
}

extension DisplayState {
    /// Returns the time on the charts' clock, ns since 1970: the wall clock, or in a replay the recording's clock,
    /// which advances from its newest trade at the replay's speed.
    func marketTime(_ now: Moment) -> Int64 {
        guard self.followsExchangeClock else { return now.wall }
        var newest: (time: Int64, arrived: Int64)?
        for row in self.rows {
            guard let time = row.history.newest else { continue }
            if row.arrived >= newest?.arrived ?? .min { newest = (max(time, newest?.time ?? time), row.arrived) }
        }
        guard let newest else { return self.replay?.at ?? now.wall }
        let pace: Double =
            switch self.status.source {
            case .live, .demo: 1
            case .replay(_, let speed), .simulated(_, let speed): (self.replay.map(\.speed) ?? speed) ?? 0
            }
        let stood = self.pauses.stood(since: newest.arrived, now: now.monotonic)
        let isStill = self.replay?.isPaused ?? false
        let elapsed = isStill ? 0 : Double(max(0, now.monotonic - newest.arrived - stood)) * pace
        let time = newest.time + Int64(min(elapsed, 1e18))
        guard let end = self.replay?.end else { return time }
        return max(newest.time, min(time, end))
    }
}
