import Market

/// The ids of one symbol that are missing and may still come: a bounded number of ranges, by ascending ids.
struct OpenHoles: Sendable {
    struct Hole: Sendable {
        var ids: ClosedRange<UInt64>
        /// The beginning of the hour in which they count; `nil` before a trade after the hole is known.
        var hour: Int64?
        /// Whether a gap names them. Others are given up when enough later ids have come.
        var isAnnounced: Bool
    }

    /// The most holes. Beyond that the lowest is given up.
    static let limit = 1_024

    private(set) var list: [Hole] = []

    var isEmpty: Bool { self.list.isEmpty }

    /// Adds ids beyond all others.
    mutating func append(_ ids: ClosedRange<UInt64>, isAnnounced: Bool) {
        if self.list.count >= Self.limit { self.list.removeFirst() }
        self.list.append(Hole(ids: ids, hour: nil, isAnnounced: isAnnounced))
    }

    /// Notes the hour in which the holes without one count.
    mutating func place(_ hour: Int64) {
        for place in self.list.indices.reversed() {
            guard self.list[place].hour == nil else { return }
            self.list[place].hour = hour
        }
    }

    /// The first place whose hole does not end before an id.
    private func place(of id: UInt64) -> Int { self.list.firstPlace { $0.ids.upperBound < id } }

    /// Removes an id; returns the hole that had it.
    mutating func remove(_ id: UInt64) -> Hole? {
        let place = self.place(of: id)
        guard place < self.list.count, self.list[place].ids.contains(id) else { return nil }
        let hole = self.list[place]
        self.list.replaceSubrange(place...place, with: Self.rest(of: hole, without: id...id))
        if self.list.count > Self.limit { self.list.removeFirst() }
        return hole
    }

    /// Adds a hole anywhere, which overlaps no other.
    mutating func insert(_ hole: Hole) {
        self.list.insert(hole, at: self.place(of: hole.ids.lowerBound))
        if self.list.count > Self.limit { self.list.removeFirst() }
    }

    /// Removes ids that will not come; returns those that were there.
    mutating func remove(_ ids: ClosedRange<UInt64>) -> [Hole] {
        let first = self.place(of: ids.lowerBound)
        var end = first
        while end < self.list.count, self.list[end].ids.lowerBound <= ids.upperBound { end += 1 }
        guard first < end else { return [] }
        let removed = self.list[first..<end].map { hole in
            var hole = hole
            hole.ids = hole.ids.clamped(to: ids)
            return hole
        }
        let rest = self.list[first..<end].flatMap { Self.rest(of: $0, without: ids) }
        self.list.replaceSubrange(first..<end, with: rest)
        return removed
    }

    private static func rest(of hole: Hole, without ids: ClosedRange<UInt64>) -> [Hole] {
        hole.ids.without(ids).map { Hole(ids: $0, hour: hole.hour, isAnnounced: hole.isAnnounced) }
    }

    /// Notes that a gap names ids; returns whether any of them is in a hole.
    mutating func announce(_ ids: ClosedRange<UInt64>) -> Bool {
        var isFound = false
        for place in self.list.indices where self.list[place].ids.overlaps(ids) {
            self.list[place].isAnnounced = true
            isFound = true
        }
        return isFound
    }

    /// Whether no gap names one of them.
    var hasUnannounced: Bool { self.list.contains { !$0.isAnnounced } }

    /// Removes and returns the holes before an id that no gap names.
    mutating func removeUnannounced(before id: UInt64) -> [Hole] {
        let removed = self.list.filter { !$0.isAnnounced && $0.ids.upperBound < id }
        if !removed.isEmpty { self.list.removeAll { !$0.isAnnounced && $0.ids.upperBound < id } }
        return removed
    }

    mutating func removeAll() { self.list = [] }

    /// The lowest missing id from `id` on; `nil` if none is.
    func first(from id: UInt64) -> UInt64? {
        let place = self.place(of: id)
        return place < self.list.count ? max(id, self.list[place].ids.lowerBound) : nil
    }
}
