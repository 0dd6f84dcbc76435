/// The lowest or the highest price of the last so many nanoseconds: a queue of those prices only that can still become it
/// (a monotonic deque), so that every step costs next to nothing whatever the span.
///
/// Exact as long as ``capacity`` such prices are enough, which takes a market that moves one way for a thousand different
/// moments without ever coming back. Beyond it every second one is left out: the window then knows a less extreme price
/// for a while, which may cost an alert at the very edge and never makes one up.
///
/// A value; time is an argument, ns of any one clock, never decreasing.
package struct PriceWindow: Sendable, Equatable {
    /// The most prices held.
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

    /// - Parameter isLowest: whether the lowest is wanted, or the highest.
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

    /// Forgets what is older than the span at `now`; a price exactly as old is still in it.
    package mutating func expire(now: Int64) {
        let (oldest, overflow) = now.subtractingReportingOverflow(self.span)
        guard !overflow else { return }
        while self.first < self.entries.count, self.entries[self.first].time < oldest { self.first += 1 }
        // Moved now and then, so that a step costs the same on average.
        if self.first >= 64, self.first * 2 >= self.entries.count {
            self.entries.removeFirst(self.first)
            self.first = 0
        }
    }

    /// Takes in a price.
    package mutating func add(_ price: ExactDecimal, time: Int64) {
        // One that is less extreme and leaves no later is never needed again.
        while self.first < self.entries.count, let last = self.entries.last, !self.isBeyond(last.price, price) {
            self.entries.removeLast()
        }
        // One of the same moment that is more extreme outlives this one.
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

    /// Leaves out every second price but the most extreme one and the newest.
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
