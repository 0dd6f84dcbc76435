/// The gaps of one symbol whose missing trades have ids, so that each of them may still come.
package struct AwaitedGaps: Sendable {
    /// One gap; times are ns since 1970.
    package struct Entry: Sendable, Equatable {
        /// The ids that were missing when the gap was published (``Gap/missing``).
        package var missing: ClosedRange<UInt64>
        package var from: Int64
        /// The end; `Int64.max` until the first trade after a gap whose times are not of the trades' clock.
        package var to: Int64

        package init(missing: ClosedRange<UInt64>, from: Int64, to: Int64) {
            self.missing = missing
            self.from = from
            self.to = to
        }

        /// Whether a period begins within the gap or contains its beginning.
        func touches(start: Int64, end: Int64) -> Bool { start <= self.to && end > self.from }
    }

    /// The most gaps of one symbol that are awaited.
    static let limit = 256

    private var entries: [Entry] = []

    package init() {}

    /// Adds a gap. Returns the oldest one if there are too many, which is not awaited any more.
    package mutating func add(_ gap: Entry) -> Entry? {
        self.entries.append(gap)
        return self.entries.count > Self.limit ? self.entries.removeFirst() : nil
    }

    /// Removes the gap of these ids; `nil` if it is not awaited.
    package mutating func remove(_ missing: ClosedRange<UInt64>) -> Entry? {
        guard let index = self.entries.firstIndex(where: { $0.missing == missing }) else { return nil }
        return self.entries.remove(at: index)
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
