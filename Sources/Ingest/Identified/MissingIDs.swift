/// The ids that are missing among the trades of one symbol: a bounded number of ranges, in ascending order.
struct MissingIDs {
    struct Hole {
        var ids: ClosedRange<UInt64>
        /// The index in ``IDFindings`` while no gap is published for it.
        var opening: Int?
    }

    /// The most holes of a symbol. Beyond that the oldest is given up: it stays missing for good.
    static let limit = 256

    private(set) var holes: [Hole] = []

    /// Adds a hole beyond all others; returns the one that is given up for it.
    mutating func append(_ ids: ClosedRange<UInt64>, opening: Int?) -> Hole? {
        self.holes.append(Hole(ids: ids, opening: opening))
        return self.giveUp()
    }

    enum Removal {
        /// The id is in no hole.
        case absent
        /// The id was missing. The hole is given up, if there is one, because the removal has split another.
        case removed(Hole?)
    }

    /// Removes an id from its hole.
    mutating func remove(_ id: UInt64) -> Removal {
        // The first hole that does not end before the id.
        var (low, high) = (0, self.holes.count)
        while low < high {
            let middle = (low + high) / 2
            if self.holes[middle].ids.upperBound < id { low = middle + 1 } else { high = middle }
        }
        guard low < self.holes.count, self.holes[low].ids.contains(id) else { return .absent }
        let hole = self.holes[low]
        let (first, last) = (hole.ids.lowerBound, hole.ids.upperBound)
        switch (id == first, id == last) {
        case (true, true): self.holes.remove(at: low)
        case (true, false): self.holes[low].ids = id + 1...last
        case (false, true): self.holes[low].ids = first...id - 1
        case (false, false):
            self.holes[low].ids = first...id - 1
            self.holes.insert(Hole(ids: id + 1...last, opening: hole.opening), at: low + 1)
        }
        return .removed(self.giveUp())
    }

    private mutating func giveUp() -> Hole? {
        self.holes.count > Self.limit ? self.holes.removeFirst() : nil
    }

    /// Removes and returns all holes.
    mutating func removeAll() -> [Hole] {
        defer { self.holes = [] }
        return self.holes
    }

    /// Notes that a gap is published for every hole; calls `publish` for those that had none.
    mutating func publish(_ publish: (_ ids: ClosedRange<UInt64>, _ opening: Int) -> Void) {
        for index in self.holes.indices {
            guard let opening = self.holes[index].opening else { continue }
            publish(self.holes[index].ids, opening)
            self.holes[index].opening = nil
        }
    }
}
