import Market

/// The ids that are missing among the trades of one symbol, the published gaps that wait for them, and the ids that are
/// lost for good. Each has a bounded number of ranges, in ascending order.
///
/// A lost id is not waited for. But it was not seen, so that its trade goes onto the tape if it comes nevertheless.
struct MissingIDs {
    struct Hole {
        var ids: ClosedRange<UInt64>
        /// The exchange's time of the newest trade before it, ns since 1970; `nil` if none is known.
        var after: Int64?
        /// The index in ``IDFindings`` while no gap is published for it.
        var opening: Int?
    }

    /// The most holes of a symbol, and the most ranges of lost ids. Beyond that the oldest hole is given up, and the
    /// smallest lost ids count as seen.
    static let limit = 256
    private static let tooMany = "more than \(Self.limit) separate holes"

    let symbol: String
    private(set) var holes: [Hole] = []
    /// The gaps with at least one hole. A hole without an opening is in one of them.
    private var gaps: [OpenGap] = []
    private var lost = IDRanges()

    init(of symbol: String) { self.symbol = symbol }

    /// Adds a hole beyond all others.
    mutating func append(_ ids: ClosedRange<UInt64>, after: Int64?, opening: Int, into found: inout IDFindings) {
        self.holes.append(Hole(ids: ids, after: after, opening: opening))
        self.keepLimit(into: &found)
    }

    /// Takes the id of a trade that came; returns whether it was missing.
    mutating func take(_ id: UInt64, time: Int64, into found: inout IDFindings) -> Bool {
        let place = self.holes.firstPlace { $0.ids.upperBound < id }
        guard place < self.holes.count, self.holes[place].ids.contains(id) else {
            return self.takeLost(id)
        }
        let hole = self.holes[place]
        let parts = hole.ids.without(id...id).map { ids in
            Hole(ids: ids, after: ids.lowerBound > id ? time : hole.after, opening: hole.opening)
        }
        self.holes.replaceSubrange(place...place, with: parts)
        self.settle(id, into: &found)
        self.keepLimit(into: &found)
        return true
    }

    /// Takes the id of a trade that came although it was given up; returns whether it was.
    private mutating func takeLost(_ id: UInt64) -> Bool {
        guard self.lost.remove(id) else { return false }
        // The removal may have split a range.
        self.lost.keep(atMost: Self.limit)
        if let place = self.gap(of: id), self.gaps[place].lost.remove(id) {
            if self.gaps[place].lost.count == 0 { self.gaps[place].reason = nil }
        }
        return true
    }

    // MARK: Gaps

    /// Publishes a gap for each hole that has none yet.
    mutating func publish(into found: inout IDFindings) {
        for index in self.holes.indices { self.publish(index, into: &found) }
    }

    private mutating func publish(_ index: Int, into found: inout IDFindings) {
        guard let opening = self.holes[index].opening else { return }
        self.holes[index].opening = nil
        let ids = self.holes[index].ids
        let gap = found.add(ids, of: opening, symbol: self.symbol)
        let place = self.gaps.firstPlace { $0.ids.upperBound < ids.lowerBound }
        self.gaps.insert(OpenGap(ids: ids, from: gap.from, to: gap.to), at: place)
    }

    /// Ends the gap of an id if it has no hole any more.
    private mutating func settle(_ id: UInt64, into found: inout IDFindings) {
        guard let place = self.gap(of: id) else { return }
        let gap = self.gaps[place]
        let hole = self.holes.firstPlace { $0.ids.upperBound < gap.ids.lowerBound }
        guard hole == self.holes.count || self.holes[hole].ids.lowerBound > gap.ids.upperBound else { return }
        self.gaps.remove(at: place)
        found.add(gap.outcome(symbol: self.symbol))
    }

    private func gap(of id: UInt64) -> Int? {
        let place = self.gaps.firstPlace { $0.ids.upperBound < id }
        return place < self.gaps.count && self.gaps[place].ids.contains(id) ? place : nil
    }

    // MARK: Loss

    /// Notes that those ids of a range that are missing are lost for good.
    mutating func giveUp(_ ids: ClosedRange<UInt64>, reason: String, into found: inout IDFindings) {
        var rest: [Hole] = []
        var lost: [ClosedRange<UInt64>] = []
        for index in self.holes.indices {
            guard self.holes[index].ids.overlaps(ids) else {
                rest.append(self.holes[index])
                continue
            }
            // A gap precedes its outcome.
            self.publish(index, into: &found)
            let hole = self.holes[index]
            lost.append(hole.ids.clamped(to: ids))
            rest += hole.ids.without(ids).map { Hole(ids: $0, after: hole.after) }
        }
        self.holes = rest
        for ids in lost { self.lose(ids, reason: reason) }
        for ids in lost { self.settle(ids.lowerBound, into: &found) }
        self.keepLimit(into: &found)
        self.endScatteredGap(into: &found)
    }

    /// Gives up all ids. They are forgotten, since the ids begin anew.
    mutating func removeAll(reason: String, into found: inout IDFindings) {
        self.giveUp(0 ... .max, reason: reason, into: &found)
        self.lost = IDRanges()
    }

    /// Notes that ids, which are in no hole any more, are lost. The caller settles their gap.
    private mutating func lose(_ ids: ClosedRange<UInt64>, reason: String) {
        self.lost.insert(ids)
        self.lost.keep(atMost: Self.limit)
        guard let place = self.gap(of: ids.lowerBound) else { return }
        self.gaps[place].lost.insert(ids)
        self.gaps[place].reason = reason
    }

    /// Gives up the oldest holes beyond the limit.
    private mutating func keepLimit(into found: inout IDFindings) {
        guard self.holes.count > Self.limit else { return }
        while self.holes.count > Self.limit {
            self.publish(0, into: &found)
            let ids = self.holes.removeFirst().ids
            self.lose(ids, reason: Self.tooMany)
            self.settle(ids.lowerBound, into: &found)
        }
        self.endScatteredGap(into: &found)
    }

    /// Gives up what is left of a gap of which too many separate ids are lost, so that its outcome is bounded.
    private mutating func endScatteredGap(into found: inout IDFindings) {
        guard let gap = self.gaps.first(where: { $0.lost.count > Self.limit }) else { return }
        self.giveUp(gap.ids, reason: Self.tooMany, into: &found)
    }
}
