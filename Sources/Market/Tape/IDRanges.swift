/// Ranges of ids in ascending order without a common id.
package struct IDRanges: Sendable, Equatable {
    package private(set) var ranges: [ClosedRange<UInt64>]

    package init(_ ranges: [ClosedRange<UInt64>] = []) { self.ranges = ranges }

    package var count: Int { self.ranges.count }

    package func contains(_ id: UInt64) -> Bool {
        let place = self.ranges.firstPlace { $0.upperBound < id }
        return place < self.ranges.count && self.ranges[place].contains(id)
    }

    /// Adds ids, none of which is there, to the ranges that end beside them, or as a range.
    package mutating func insert(_ ids: ClosedRange<UInt64>) {
        let place = self.ranges.firstPlace { $0.upperBound < ids.lowerBound }
        let joinsBefore = place > 0 && self.ranges[place - 1].upperBound + 1 == ids.lowerBound
        let joinsNext = place < self.ranges.count && ids.upperBound + 1 == self.ranges[place].lowerBound
        switch (joinsBefore, joinsNext) {
        case (true, true):
            self.ranges[place - 1] = self.ranges[place - 1].lowerBound...self.ranges[place].upperBound
            self.ranges.remove(at: place)
        case (true, false): self.ranges[place - 1] = self.ranges[place - 1].lowerBound...ids.upperBound
        case (false, true): self.ranges[place] = ids.lowerBound...self.ranges[place].upperBound
        case (false, false): self.ranges.insert(ids, at: place)
        }
    }

    /// Removes an id; returns whether it was there.
    package mutating func remove(_ id: UInt64) -> Bool {
        let place = self.ranges.firstPlace { $0.upperBound < id }
        guard place < self.ranges.count, self.ranges[place].contains(id) else { return false }
        self.ranges.replaceSubrange(place...place, with: self.ranges[place].without(id...id))
        return true
    }

    /// Forgets the smallest ids until at most so many ranges are left.
    package mutating func keep(atMost limit: Int) { self.ranges.removeFirst(max(0, self.ranges.count - limit)) }

    /// Returns the ids that are in a range as well.
    package func clipped(to range: ClosedRange<UInt64>) -> IDRanges {
        IDRanges(self.ranges.filter { $0.overlaps(range) }.map { $0.clamped(to: range) })
    }

    /// Returns the ids that are in both.
    package func intersection(_ other: IDRanges) -> IDRanges {
        var common: [ClosedRange<UInt64>] = []
        var (mine, theirs) = (self.ranges[...], other.ranges[...])
        while let first = mine.first, let second = theirs.first {
            if first.overlaps(second) { common.append(first.clamped(to: second)) }
            if first.upperBound < second.upperBound { mine.removeFirst() } else { theirs.removeFirst() }
        }
        return IDRanges(common)
    }
}

extension ClosedRange<UInt64> {
    /// Returns the parts of the range that others, which overlap it, leave: at most two.
    package func without(_ others: ClosedRange<UInt64>) -> [ClosedRange<UInt64>] {
        var parts: [ClosedRange<UInt64>] = []
        if self.lowerBound < others.lowerBound { parts.append(self.lowerBound...others.lowerBound - 1) }
        if self.upperBound > others.upperBound { parts.append(others.upperBound + 1...self.upperBound) }
        return parts
    }
}
