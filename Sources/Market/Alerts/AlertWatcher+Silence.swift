/// Silence, and that it is over.
extension AlertWatcher {
    /// How long a symbol has been silent.
    struct Silence: Sendable, Equatable {
        let limit: Int64
        /// The last trade, or the beginning of the watch.
        var last: Int64?
        var isSilent = false
        /// When it has to be looked at; `Int64.max` while that cannot change anything.
        var nextCheck = Int64.max
    }

    /// Takes the time from which on it is watched.
    mutating func began(at clock: Int64) {
        guard let silence = self.silence, silence.last == nil else { return }
        self.hear(at: clock)
    }

    /// Notes that the clock says `now`; answers only where a check was due, and is to be asked again until it was not.
    mutating func clockReached(_ now: Int64) -> Firing? {
        guard let silence = self.silence, now >= silence.nextCheck else { return nil }
        return self.fellSilent(at: silence.nextCheck, reason: "no trade for \(AlertSpan.write(silence.limit))")
    }

    /// Notes that nothing is to be expected for now, by the feed's own word.
    mutating func wasSilenced(at now: Int64, reason: String) -> Firing? {
        guard let silence = self.silence, !silence.isSilent else { return nil }
        return self.fellSilent(at: now, reason: reason)
    }

    private mutating func fellSilent(at time: Int64, reason: String) -> Firing? {
        if self.silence?.isSilent == false {
            self.silence?.isSilent = true
            self.hasChanged = true
        }
        self.silence?.nextCheck = .max
        guard case .stale = self.condition else { return nil }
        guard self.pass(time) else {
            // It is told when the hold is over, if it is still true.
            if let hold = self.gate.hold, !self.gate.isDone { self.silence?.nextCheck = max(hold.until, time &+ 1) }
            return nil
        }
        return Firing(price: self.lastPrice, time: time, reason: reason)
    }

    /// Takes a trade as a sign of life at `clock`.
    mutating func heard(_ price: ExactDecimal, at clock: Int64) -> Firing? {
        guard let silence = self.silence else { return nil }
        self.lastPrice = price
        let was = silence.isSilent
        let last = silence.last
        self.hear(at: clock)
        guard was else { return nil }
        self.calm()
        self.hasChanged = true
        guard case .back = self.condition, self.pass(clock) else { return nil }
        let span = last.map { clock > $0 ? " after \(Self.words(clock - $0)) without a trade" : "" } ?? ""
        return Firing(price: price, time: clock, reason: "trades again\(span)")
    }

    /// Notes that the clock was set back to `now`.
    mutating func clockWasSet(to now: Int64) {
        guard let silence = self.silence, let last = silence.last, last > now else { return }
        self.silence?.last = now
        if !silence.isSilent { self.silence?.nextCheck = Self.sum(now, silence.limit) }
    }

    private mutating func hear(at clock: Int64) {
        guard let limit = self.silence?.limit else { return }
        self.silence?.last = clock
        self.silence?.isSilent = false
        self.silence?.nextCheck = self.gate.isDone ? .max : Self.sum(clock, limit)
    }

    private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    /// Whole seconds where they are more than a few, so that the text is short.
    private static func words(_ span: Int64) -> String {
        let unit: Int64 = span >= 10_000_000_000 ? 1_000_000_000 : 1_000_000
        return AlertSpan.write(span / unit * unit)
    }
}
