/// Ranges of ids in ascending order, between any two of which other ids lie.
struct IDRanges: Equatable {
    private(set) var ranges: [ClosedRange<UInt64>] = []

    var count: Int { self.ranges.count }

    /// Adds ids, none of which is there.
    mutating func insert(_ ids: ClosedRange<UInt64>) {
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
    mutating func remove(_ id: UInt64) -> Bool {
        let place = self.ranges.firstPlace { $0.upperBound < id }
        guard place < self.ranges.count, self.ranges[place].contains(id) else { return false }
        self.ranges.replaceSubrange(place...place, with: self.ranges[place].without(id...id))
        return true
    }

    /// Forgets the smallest ids until at most so many ranges are left.
    mutating func keep(atMost limit: Int) { self.ranges.removeFirst(max(0, self.ranges.count - limit)) }
}

extension ClosedRange<UInt64> {
    /// Returns the parts of the range that others, which overlap it, leave: at most two.
    func without(_ others: ClosedRange<UInt64>) -> [ClosedRange<UInt64>] {
        var parts: [ClosedRange<UInt64>] = []
        if self.lowerBound < others.lowerBound { parts.append(self.lowerBound...others.lowerBound - 1) }
        if self.upperBound > others.upperBound { parts.append(others.upperBound + 1...self.upperBound) }
        return parts
    }
}

extension Array {
    /// Returns the place of the first element that is not before something, where all that are before it come first.
    func firstPlace(isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
