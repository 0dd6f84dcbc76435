/// The gaps of one symbol whose missing trades may still come: those with ids, and the newest of those without, which
/// another source may fill.
package struct AwaitedGaps: Sendable {
    /// One gap; times are ns since 1970.
    package struct Entry: Sendable, Equatable {
        /// The ids that were missing when the gap was published (``Gap/missing``); `nil` without ids.
        package var missing: ClosedRange<UInt64>?
        /// The times of the published gap, which tell it from others without ids.
        package var published: ClosedRange<Int64>
        package var from: Int64
        /// The end; `Int64.max` until the first trade after a gap whose times are not of the trades' clock.
        package var to: Int64

        package init(
            missing: ClosedRange<UInt64>?,
            published: ClosedRange<Int64>,
            from: Int64,
            to: Int64
        ) {
            self.missing = missing
            self.published = published
            self.from = from
            self.to = to
        }

        /// Whether a period begins within the gap or contains its beginning.
        func touches(start: Int64, end: Int64) -> Bool { start <= self.to && end > self.from }
    }

    /// The most gaps of one symbol that are awaited, and the most of these without ids.
    static let limit = 256
    static let limitWithoutIDs = 8

    private var entries: [Entry] = []

    package init() {}

    /// Adds a gap. Returns the oldest one if there are too many, which is not awaited any more.
    package mutating func add(_ gap: Entry) -> Entry? {
        self.entries.append(gap)
        if gap.missing == nil, self.entries.count(where: { $0.missing == nil }) > Self.limitWithoutIDs,
            let oldest = self.entries.firstIndex(where: { $0.missing == nil })
        {
            return self.entries.remove(at: oldest)
        }
        return self.entries.count > Self.limit ? self.entries.removeFirst() : nil
    }

    /// Removes the gap of these ids. If it is not awaited, removes those without ids within the times.
    package mutating func remove(_ missing: ClosedRange<UInt64>?, published: ClosedRange<Int64>?) -> [Entry] {
        if missing != nil, let index = self.entries.firstIndex(where: { $0.missing == missing }) {
            return [self.entries.remove(at: index)]
        }
        guard let published else { return [] }
        let isSettled = { (gap: Entry) in gap.missing == nil && published.contains(gap.published) }
        defer { self.entries.removeAll(where: isSettled) }
        return self.entries.filter(isSettled)
    }

    /// Ends the gaps without an end at the time of the first trade after them.
    mutating func end(at time: Int64) {
        for index in self.entries.indices.reversed() where self.entries[index].to == .max {
            self.entries[index].to = max(self.entries[index].from, time)
        }
    }

    /// Whether a gap touches a period.
    func touches(start: Int64, end: Int64) -> Bool {
        self.entries.contains { $0.touches(start: start, end: end) }
    }
}
