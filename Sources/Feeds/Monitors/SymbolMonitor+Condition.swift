package import Market

extension SymbolMonitor {
    /// The state of an open connection according to all its symbols.
    package enum Condition: Sendable, Equatable {
        /// No trade yet, and none is overdue.
        case waiting
        case live
        /// No trade of any symbol for a while.
        case late
        /// No symbol has traded within its own threshold.
        case stale
        /// The service refuses all symbols. At least one is unknown (`noSuchSymbol`), or else the key's plan excludes
        /// at least one (`notPermitted`).
        case noSuchSymbol
        case notPermitted
    }

    /// Returns the condition at a monotonic time, ns.
    package func condition(now: Int64) -> Condition {
        if let refused = self.allRefused { return refused }
        guard let newest = self.lastTrade ?? self.opened, now - newest >= self.settings.freshness.lateAfter else {
            return self.lastTrade == nil ? .waiting : .live
        }
        let asked = self.entries.indices.filter { self.entries[$0].isAccepted }
        return !asked.isEmpty && asked.allSatisfy { self.isQuiet($0) } ? .stale : .late
    }

    private var allRefused: Condition? {
        guard !self.entries.isEmpty, self.entries.allSatisfy({ $0.refusal != nil }) else { return nil }
        if self.entries.contains(where: { $0.refusal?.kind == .noSuchSymbol }) { return .noSuchSymbol }
        if self.entries.contains(where: { $0.refusal?.kind == .notPermitted }) { return .notPermitted }
        return nil
    }

    /// When ``deadlineReached(_:)`` is next due; monotonic ns.
    package func deadline(now: Int64) -> Int64? {
        guard let opened else { return nil }
        let late = (self.lastTrade ?? opened) + self.settings.freshness.lateAfter
        // If the feed is late already, only later deadlines count.
        let next = late > now ? late : nil
        return [next, self.pacer.deadline, self.quietDeadline(now: now), self.refusalDeadline].compactMap(\.self).min()
    }

    /// Takes the passing of time.
    package mutating func deadlineReached(_ now: Moment) -> Action {
        guard self.opened != nil else { return .none }
        self.retryRefused(now)
        return self.takeSteps(now)
    }
}
