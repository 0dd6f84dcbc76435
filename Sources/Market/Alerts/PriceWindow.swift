/// The lowest or the highest price within a sliding window of time. It is a monotonic deque, which holds only the
/// prices that can still become the extreme, so that the amortised cost of a step does not depend on the window's
/// length.
///
/// The result is exact while at most ``capacity`` such prices are held. To exceed that, the market must move in one
/// direction at a thousand different times without coming back. The window then drops every second price, and knows a
/// less extreme price for a while. This may suppress an alert at the very edge, and never causes a false one.
///
/// A value. Time is an argument: ns of any single clock, never decreasing.
package struct PriceWindow: Sendable, Equatable {
    /// The largest number of prices held.
    package static let capacity = 1_024

    private struct Entry: Equatable {
        var time: Int64
        var price: ExactDecimal
    }

    private let isLowest: Bool
    private let span: Int64
    private var entries: [Entry] = []
    /// Entries before this one have expired.
    private var first = 0

    /// - Parameter isLowest: whether the window finds the lowest price rather than the highest.
    package init(isLowest: Bool, span: Int64) {
        self.isLowest = isLowest
        self.span = span
    }

    /// The most extreme price and its time.
    package var extreme: (price: ExactDecimal, time: Int64)? {
        guard self.first < self.entries.count else { return nil }
        return (self.entries[self.first].price, self.entries[self.first].time)
    }

    package var count: Int { self.entries.count - self.first }

    /// Removes prices older than the span at `now`; a price of exactly that age stays.
    package mutating func expire(now: Int64) {
        let (oldest, overflow) = now.subtractingReportingOverflow(self.span)
        guard !overflow else { return }
        while self.first < self.entries.count, self.entries[self.first].time < oldest { self.first += 1 }
        // Compacts the storage rarely, so that the average cost of a step stays constant.
        if self.first >= 64, self.first * 2 >= self.entries.count {
            self.entries.removeFirst(self.first)
            self.first = 0
        }
    }

    /// Adds a price.
    package mutating func add(_ price: ExactDecimal, time: Int64) {
        // An earlier price that is not more extreme than this one is never needed again.
        while self.first < self.entries.count, let last = self.entries.last, !self.isBeyond(last.price, price) {
            self.entries.removeLast()
        }
        // A more extreme price of the same time outlives this one.
        if self.first < self.entries.count, self.entries[self.entries.count - 1].time == time { return }
        if self.count >= Self.capacity { self.thin() }
        self.entries.append(Entry(time: time, price: price))
    }

    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.first = 0
    }

    private func isBeyond(_ one: ExactDecimal, _ other: ExactDecimal) -> Bool {
        self.isLowest ? one < other : other < one
    }

    /// Drops every second price, but keeps the most extreme one and the newest.
    private mutating func thin() {
        let held = self.entries[self.first...]
        var kept: [Entry] = []
        kept.reserveCapacity(Self.capacity)
        for (offset, entry) in held.enumerated() where offset % 2 == 0 || offset == held.count - 1 {
            kept.append(entry)
        }
        self.entries = kept
        self.first = 0
    }
}
