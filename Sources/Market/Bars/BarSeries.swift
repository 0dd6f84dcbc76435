/// The newest bars of one symbol and one width, with what is known to be missing.
///
/// Bars that a gap touches are marked incomplete, those that come to be later as well. So is the first bar of all, for what
/// came before the first trade is not known.
package struct BarSeries: Sendable {
    /// By so much a trade may have happened before it arrived: a gap of arrivals reaches so far back among the exchange's
    /// times, ns.
    package static let usualDelay: Int64 = 2_000_000_000

    package let width: BarWidth
    /// How many bars it holds; at least one.
    package private(set) var capacity: Int
    /// The oldest first; each start is there once.
    package private(set) var bars: [Bar] = []
    /// Trades that belong to bars older than those that are kept, and are in no bar.
    package private(set) var late: UInt64 = 0
    /// Bars before this start are not held any more.
    private var floor = Int64.min
    /// Whether trades may be missing before the next one.
    private var isInterrupted = true
    /// The stretch of the newest gap.
    private var gap: (from: Int64, to: Int64)?

    package init(width: BarWidth, capacity: Int) {
        self.width = width
        self.capacity = max(capacity, 1)
    }

    /// Takes the next piece of a bar: trades whose times all lie in one bar of this width.
    ///
    /// - Returns: the bar that has to leave for it, if one has to.
    @discardableResult
    package mutating func take(_ piece: Bar) -> Bar? {
        var piece = piece.widened(to: self.width)
        let start = piece.start
        guard start >= self.floor else {
            self.late &+= max(piece.count, 1)
            return nil
        }
        piece.isIncomplete = piece.isIncomplete || self.isInterrupted || self.isTouched(piece)
        self.isInterrupted = false
        // Nearly always it belongs to the newest bar or behind it.
        var index = self.bars.count
        if index > 1, self.bars[index - 2].start > start {
            index = self.place(behind: start)
        } else {
            while index > 0, self.bars[index - 1].start > start { index -= 1 }
        }
        if index > 0, self.bars[index - 1].start == start {
            self.bars[index - 1].append(piece)
            return nil
        }
        self.bars.insert(piece, at: index)
        guard self.bars.count > self.capacity else { return nil }
        let oldest = self.bars.removeFirst()
        self.floor = oldest.start &+ self.width.nanoseconds
        return oldest
    }

    /// Puts bars of an earlier run in front, the oldest first; to be called before the first trade.
    package mutating func begin(with earlier: [Bar]) {
        self.bars = Array(earlier.suffix(self.capacity))
    }

    /// Notes that trades may be missing that arrived from one moment to another, both ns since 1970.
    package mutating func gapFound(from: Int64, to: Int64) {
        let from = from &- Self.usualDelay
        // Where nothing was traded since the one before, both are one.
        if let gap, gap.to >= (self.bars.last?.start ?? .min) {
            self.gap = (min(gap.from, from), max(gap.to, to))
        } else {
            self.gap = (from, to)
        }
        for index in self.bars.indices.reversed() {
            guard self.bars[index].end > from else { break }
            if self.bars[index].start <= to { self.bars[index].isIncomplete = true }
        }
    }

    /// Notes that trades may be missing here, where the gap's times are of another clock than the trades'.
    package mutating func interrupted() {
        self.isInterrupted = true
        if let last = self.bars.indices.last { self.bars[last].isIncomplete = true }
    }

    private func isTouched(_ bar: Bar) -> Bool { self.gap.map { bar.start <= $0.to && bar.end > $0.from } ?? false }

    /// Notes that no trade comes any more: what had not ended by then, ns since 1970, is incomplete.
    package mutating func ended(at time: Int64) {
        for index in self.bars.indices where self.bars[index].end > time {
            self.bars[index].isIncomplete = true
        }
    }

    /// Keeps so many bars from now on.
    package mutating func keep(_ capacity: Int) {
        self.capacity = max(capacity, 1)
        let surplus = self.bars.count - self.capacity
        guard surplus > 0 else { return }
        self.floor = self.bars[surplus - 1].start &+ self.width.nanoseconds
        self.bars.removeFirst(surplus)
    }

    /// The place of the bar in which a moment lies, ns since 1970; `nil` where there is none.
    package func place(of time: Int64) -> Int? {
        let low = self.place(behind: time)
        return low > 0 && time < self.bars[low - 1].end ? low - 1 : nil
    }

    /// The place of the first bar that begins later than a moment.
    private func place(behind time: Int64) -> Int {
        var (low, high) = (0, self.bars.count)
        while low < high {
            let middle = low + (high - low) / 2
            if self.bars[middle].start <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Takes all bars out, the oldest first.
    package mutating func takeAll() -> [Bar] {
        defer { self.bars = [] }
        return self.bars
    }

    /// The bars whose start lies in a span of time, ns since 1970; at most so many: the first of them where `from` is given,
    /// else the last.
    package func bars(from: Int64?, to: Int64?, limit: Int) -> ArraySlice<Bar> {
        let first = from.map { from in self.bars.firstIndex { $0.start >= from } ?? self.bars.count } ?? 0
        let end = to.map { to in self.bars.firstIndex { $0.start >= to } ?? self.bars.count } ?? self.bars.count
        guard first < end else { return [] }
        return from == nil ? self.bars[first..<end].suffix(limit) : self.bars[first..<end].prefix(limit)
    }
}
