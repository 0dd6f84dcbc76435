/// The detection of a silence and of its end.
extension AlertRuleState {
    /// The silence of a symbol.
    struct Silence: Sendable, Equatable {
        let limit: Int64
        /// The time of the last trade, or of the beginning of the watch.
        var last: Int64?
        var isSilent = false
        /// When the next check is due; `Int64.max` while a check cannot change anything.
        var nextCheck = Int64.max
    }

    /// Takes the time from which the symbol is watched.
    mutating func began(at clock: Int64) {
        guard let silence = self.silence, silence.last == nil else { return }
        self.hear(at: clock)
    }

    /// Notes that the clock shows `now`. Returns an alert only for a check that was due; the caller repeats the call
    /// until none is.
    mutating func clockReached(_ now: Int64) -> Firing? {
        guard let silence = self.silence, now >= silence.nextCheck else { return nil }
        return self.fellSilent(at: silence.nextCheck, reason: "no trade for \(AlertSpan.write(silence.limit))")
    }

    /// Notes the feed's report that no trade is to be expected for now.
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
            // The alert fires when the hold ends, if the silence still lasts.
            if let hold = self.gate.hold, !self.gate.isDone { self.silence?.nextCheck = max(hold.until, time &+ 1) }
            return nil
        }
        return Firing(price: self.lastPrice, time: time, reason: reason)
    }

    /// Takes a trade at `clock` as a sign of life.
    mutating func received(_ price: ExactDecimal, at clock: Int64) -> Firing? {
        guard let silence = self.silence else { return nil }
        self.lastPrice = price
        let was = silence.isSilent
        let last = silence.last
        self.hear(at: clock)
        guard was else { return nil }
        self.conditionEnded()
        self.hasChanged = true
        guard case .back = self.condition, self.pass(clock) else { return nil }
        let span = last.map { clock > $0 ? " after \(Self.words(clock - $0)) without a trade" : "" } ?? ""
        return Firing(price: price, time: clock, reason: "trades again\(span)")
    }

    /// Notes that the clock was set back to `now`.
    mutating func clockWasSet(to now: Int64) {
        guard let silence = self.silence, let last = silence.last, last > now else { return }
        self.silence?.last = now
        if !silence.isSilent { self.silence?.nextCheck = now.addingCapped(silence.limit) }
    }

    private mutating func hear(at clock: Int64) {
        guard let limit = self.silence?.limit else { return }
        self.silence?.last = clock
        self.silence?.isSilent = false
        self.silence?.nextCheck = self.gate.isDone ? .max : clock.addingCapped(limit)
    }

    /// Formats a span; one of ten seconds or more is cut to whole seconds, so that the text is short.
    private static func words(_ span: Int64) -> String {
        let unit: Int64 = span >= 10_000_000_000 ? 1_000_000_000 : 1_000_000
        return AlertSpan.write(span / unit * unit)
    }
}
