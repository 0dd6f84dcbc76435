import Market

/// The gaps of a feed without ids whose missing trades another source names, until each of these has come or is lost.
///
/// A gap has one outcome for each range of consecutive ids, and one without ids if nothing is missing. They come together,
/// those with a loss first, because readers take the first outcome of a gap for that of the whole gap. A state machine
/// without time.
struct IdentifiedGaps {
    private struct Waiting {
        let gap: IdentifiedGap
        var holes = IDRanges()
        var lost = IDRanges()
        var reason: String?
    }

    /// The most gaps that wait, each of one symbol. The oldest is given up beyond that.
    private static let limit = 4_096

    private var waiting: [Waiting] = []
    private var outcomes: [GapOutcome] = []

    /// The ids that are missing, by symbol.
    var missing: [MissingTrades] {
        var all: [MissingTrades] = []
        var places: [String: Int] = [:]
        for gap in self.waiting {
            let holes = gap.holes.ranges.map { MissingTrades.Hole(ids: $0, after: gap.gap.after) }
            if let place = places[gap.gap.symbol] {
                all[place].holes += holes
            } else {
                places[gap.gap.symbol] = all.count
                all.append(MissingTrades(symbol: gap.gap.symbol, holes: holes))
            }
        }
        for place in all.indices { all[place].holes.sort { $0.ids.lowerBound < $1.ids.lowerBound } }
        return all
    }

    /// Adds a gap, none of whose ids is in another one.
    mutating func add(_ gap: IdentifiedGap) {
        var waiting = Waiting(gap: gap)
        for ids in gap.missing { waiting.holes.insert(ids) }
        for ids in gap.lost { waiting.lost.insert(ids) }
        waiting.reason = gap.reason
        self.waiting.append(waiting)
        if self.waiting.count > Self.limit { self.giveUp(at: 0, 0 ... .max, reason: "more than \(Self.limit) gaps") }
        self.settle()
    }

    /// Takes the id of a trade that came; returns whether it was missing.
    mutating func take(_ id: UInt64, of symbol: String) -> Bool {
        for index in self.waiting.indices where self.waiting[index].gap.symbol == symbol {
            if self.waiting[index].holes.remove(id) { return true }
        }
        return false
    }

    /// Notes that those ids of a range that are missing are lost for good.
    mutating func giveUp(_ ids: ClosedRange<UInt64>, of symbol: String, reason: String) {
        for index in self.waiting.indices where self.waiting[index].gap.symbol == symbol {
            self.giveUp(at: index, ids, reason: reason)
        }
        self.settle()
    }

    private mutating func giveUp(at index: Int, _ ids: ClosedRange<UInt64>, reason: String) {
        var rest = IDRanges()
        for hole in self.waiting[index].holes.ranges {
            guard hole.overlaps(ids) else {
                rest.insert(hole)
                continue
            }
            for part in hole.without(ids) { rest.insert(part) }
            self.waiting[index].lost.insert(hole.clamped(to: ids))
            self.waiting[index].reason = reason
        }
        self.waiting[index].holes = rest
    }

    /// Notes to which symbols the feed subscribes: the others' trades are not waited for.
    mutating func subscribed(to names: [String]) {
        guard !self.waiting.isEmpty else { return }
        let wanted = Set(names)
        for index in self.waiting.indices where !wanted.contains(self.waiting[index].gap.symbol) {
            self.giveUp(at: index, 0 ... .max, reason: "the symbol was unsubscribed")
        }
        self.settle()
    }

    /// Ends the gaps that wait for nothing any more: at the end of an answer.
    mutating func settle() {
        for gap in self.waiting where gap.holes.count == 0 { self.outcomes += Self.outcomes(of: gap) }
        self.waiting.removeAll { $0.holes.count == 0 }
    }

    private static func outcomes(of waiting: Waiting) -> [GapOutcome] {
        var all = IDRanges()
        for ids in waiting.gap.missing + waiting.gap.lost { all.insert(ids) }
        let ranges = all.ranges.isEmpty ? [nil] : all.ranges.map(Optional.some)
        let outcomes = ranges.map { ids in
            let lost = waiting.lost.ranges.filter { ids?.overlaps($0) == true }
            return GapOutcome(
                symbol: waiting.gap.symbol,
                missing: ids,
                from: waiting.gap.from,
                to: waiting.gap.to,
                lost: lost,
                reason: lost.isEmpty ? nil : waiting.reason
            )
        }
        return outcomes.filter { !$0.isComplete } + outcomes.filter(\.isComplete)
    }

    /// Removes and returns the outcomes in their order.
    mutating func takeOutcomes() -> [GapOutcome] {
        guard !self.outcomes.isEmpty else { return [] }
        defer { self.outcomes = [] }
        return self.outcomes
    }
}
