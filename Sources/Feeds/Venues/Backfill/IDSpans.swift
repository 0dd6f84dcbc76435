/// Ids as ranges in ascending order without a common id.
struct IDSpans: Equatable {
    private(set) var ranges: [ClosedRange<UInt64>]

    init(_ ranges: [ClosedRange<UInt64>] = []) { self.ranges = ranges }

    var isEmpty: Bool { self.ranges.isEmpty }

    func contains(_ id: UInt64) -> Bool {
        // The first range that does not end before the id.
        var (low, high) = (0, self.ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if self.ranges[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low < self.ranges.count && self.ranges[low].contains(id)
    }

    /// Returns the ids that are in a range as well.
    func clipped(to range: ClosedRange<UInt64>) -> IDSpans {
        IDSpans(self.ranges.filter { $0.overlaps(range) }.map { $0.clamped(to: range) })
    }

    /// Returns the ids that are in both.
    func intersection(_ other: IDSpans) -> IDSpans {
        var common: [ClosedRange<UInt64>] = []
        var (mine, theirs) = (self.ranges[...], other.ranges[...])
        while let first = mine.first, let second = theirs.first {
            if first.overlaps(second) { common.append(first.clamped(to: second)) }
            if first.upperBound < second.upperBound { mine.removeFirst() } else { theirs.removeFirst() }
        }
        return IDSpans(common)
    }
}
