import Market
import Wire

/// The ids of missing trades: the newest ones as ranges, and the number of all.
struct AuditedIDs {
    /// The most ranges that are listed.
    static let limit = 100

    /// In the order in which they were found.
    private(set) var ranges: [ClosedRange<UInt64>] = []
    /// The number of missing trades whose ids are not listed.
    private(set) var unlisted: UInt64 = 0

    mutating func insert(_ id: UInt64) {
        if let last = self.ranges.last, last.upperBound < .max, last.upperBound + 1 == id {
            self.ranges[self.ranges.count - 1] = last.lowerBound...id
            return
        }
        self.ranges.append(id...id)
        self.limit()
    }

    /// Removes an id whose trade came after all.
    mutating func remove(_ id: UInt64) {
        guard let place = self.ranges.lastIndex(where: { $0.contains(id) }) else {
            self.unlisted -= min(self.unlisted, 1)
            return
        }
        self.ranges.replaceSubrange(place...place, with: self.ranges[place].without(id...id))
        self.limit()
    }

    private mutating func limit() {
        guard self.ranges.count > Self.limit else { return }
        self.unlisted &+= TradeID.count(self.ranges.removeFirst())
    }
}
