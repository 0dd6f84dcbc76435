/// The newest bars of one symbol and one width, with marks where trades may be missing.
///
/// Bars that a gap touches are marked incomplete, including those that begin later. The very first bar is also
/// incomplete, because the trades before its first one are unknown. A bar that is incomplete only because of gaps is
/// complete as soon as the trades of all of them have come, which ids prove.
package struct BarSeries: Sendable {
    /// The usual delay between a trade and its arrival, ns. A gap in the arrivals reaches back by this much in the
    /// exchange's time.
    package static let usualDelay: Int64 = 2_000_000_000

    package let width: BarWidth
    /// The largest number of bars held; at least one.
    package private(set) var capacity: Int
    /// How many bars more are held while trades of the oldest may still come.
    private let patience: Int
    /// The bars, oldest first; no two have the same start.
    package private(set) var bars: [Bar] = []
    /// The number of trades in no bar, because their bar is older than all that are held.
    package private(set) var late: UInt64 = 0
    /// Bars that start before this are no longer held.
    private var floor = Int64.min
    /// Whether trades may be missing before the next one.
    private var isInterrupted = true
    /// The period of the newest gap, ns since 1970.
    private var gap: (from: Int64, to: Int64)?
    /// The gaps whose trades may still come.
    private var awaited = AwaitedGaps()

    /// - Parameter patience: how many bars more are held while trades of the oldest may still come.
    package init(width: BarWidth, capacity: Int, patience: Int = 0) {
        self.width = width
        self.capacity = max(capacity, 1)
        self.patience = patience
    }

    /// Adds the next piece of a bar: trades whose times all lie in one bar of this width.
    ///
    /// - Parameter isFilled: whether all of them are filled trades (``TradeMarks/filled``). These are older than the
    ///   newest ones, so trades may still be missing before the next one.
    /// - Returns: the bar that was removed to make room, if any.
    @discardableResult
    package mutating func take(_ piece: Bar, isFilled: Bool = false) -> Bar? {
        var piece = piece.widened(to: self.width)
        let start = piece.start
        guard start >= self.floor else {
            self.late &+= max(piece.count, 1)
            return nil
        }
        let isNext = !isFilled || start > self.bars.last?.start ?? .min
        piece.lacksTrades = piece.lacksTrades || (self.isInterrupted && isNext) || self.isTouched(piece)
        if !isFilled {
            self.isInterrupted = false
            self.awaited.end(at: start)
        }
        piece.awaitsTrades = piece.awaitsTrades || self.awaited.touches(start: start, end: piece.end)
        // The piece nearly always belongs to the newest bar or follows it.
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
        if self.bars[0].awaitsTrades, self.bars.count <= self.capacity + self.patience { return nil }
        let oldest = self.bars.removeFirst()
        self.floor = oldest.start &+ self.width.nanoseconds
        return oldest
    }

    /// Starts the series with the bars of an earlier run, oldest first. The caller does this before the first trade.
    package mutating func begin(with earlier: [Bar]) {
        self.bars = Array(earlier.suffix(self.capacity))
    }

    /// Notes that trades may be missing that arrived between two moments, both ns since 1970.
    ///
    /// - Parameter missing: the ids of the missing trades, all of which may still come; `nil` without ids.
    package mutating func gapFound(from: Int64, to: Int64, missing: ClosedRange<UInt64>? = nil) {
        let published = min(from, to)...max(from, to)
        self.await(
            AwaitedGaps.Entry(missing: missing, published: published, from: from &- Self.usualDelay, to: to)
        )
    }

    private mutating func await(_ gap: AwaitedGaps.Entry) {
        if let oldest = self.awaited.add(gap) { self.gapIsForGood(from: oldest.from, to: oldest.to) }
        self.change(from: gap.from, to: gap.to) { $0.awaitsTrades = true }
    }

    private mutating func gapIsForGood(from: Int64, to: Int64) {
        // Two gaps with no trade between them merge.
        if let gap, gap.to >= (self.bars.last?.start ?? .min) {
            self.gap = (min(gap.from, from), max(gap.to, to))
        } else {
            self.gap = (from, to)
        }
        self.change(from: from, to: to) { $0.lacksTrades = true }
    }

    /// Changes the bars that a gap touches.
    private mutating func change(from: Int64, to: Int64, _ change: (inout Bar) -> Void) {
        for index in self.bars.indices.reversed() {
            guard self.bars[index].end > from else { break }
            if self.bars[index].start <= to { change(&self.bars[index]) }
        }
    }

    /// Notes the outcome of a gap. A bar that lacks trades of no other gap is complete if all have come.
    ///
    /// - Parameter published: the times of the gap, which tell it if it has no ids; `nil` if these are enough.
    package mutating func gapSettled(
        _ missing: ClosedRange<UInt64>?,
        published: ClosedRange<Int64>? = nil,
        isComplete: Bool
    ) {
        // A gap that is not awaited any more has marked its bars for good.
        for gap in self.awaited.remove(missing, published: published) {
            if !isComplete { self.gapIsForGood(from: gap.from, to: gap.to) }
            let awaited = self.awaited
            self.change(from: gap.from, to: gap.to) { $0.awaitsTrades = awaited.touches(start: $0.start, end: $0.end) }
        }
    }

    /// Notes that trades may be missing here; for gaps whose times are not of the trades' clock.
    ///
    /// - Parameters:
    ///   - missing: the ids of the missing trades, all of which may still come; `nil` without ids.
    ///   - published: the times of the gap, by which its outcome names it; `nil` if it has none.
    package mutating func interrupted(
        missing: ClosedRange<UInt64>? = nil,
        published: ClosedRange<Int64>? = nil
    ) {
        if missing != nil || published != nil, let last = self.bars.last {
            return self.await(
                AwaitedGaps.Entry(missing: missing, published: published ?? 0...0, from: last.start, to: .max)
            )
        }
        self.isInterrupted = true
        if let last = self.bars.indices.last { self.bars[last].lacksTrades = true }
    }

    private func isTouched(_ bar: Bar) -> Bool { self.gap.map { bar.start <= $0.to && bar.end > $0.from } ?? false }

    /// Marks the bars incomplete that had not ended at `time`, ns since 1970: no further trades follow.
    package mutating func ended(at time: Int64) {
        for index in self.bars.indices where self.bars[index].end > time {
            self.bars[index].lacksTrades = true
        }
    }

    /// Changes how many bars are held.
    package mutating func keep(_ capacity: Int) {
        self.capacity = max(capacity, 1)
        let surplus = self.bars.count - self.capacity
        guard surplus > 0 else { return }
        self.floor = self.bars[surplus - 1].start &+ self.width.nanoseconds
        self.bars.removeFirst(surplus)
    }

    /// Returns the index of the bar that contains a moment, ns since 1970; `nil` if no bar does.
    package func place(of time: Int64) -> Int? {
        let low = self.place(behind: time)
        return low > 0 && time < self.bars[low - 1].end ? low - 1 : nil
    }

    /// Returns the index of the first bar that begins later than a moment.
    private func place(behind time: Int64) -> Int { self.bars.firstPlace { $0.start <= time } }

    /// Removes and returns all bars, oldest first.
    package mutating func takeAll() -> [Bar] {
        defer { self.bars = [] }
        return self.bars
    }

    /// Returns the bars whose start lies in a span of time, ns since 1970, at most `limit`: the first of them if `from`
    /// is given, otherwise the last.
    package func bars(from: Int64?, to: Int64?, limit: Int) -> ArraySlice<Bar> {
        let first = from.map { from in self.bars.firstIndex { $0.start >= from } ?? self.bars.count } ?? 0
        let end = to.map { to in self.bars.firstIndex { $0.start >= to } ?? self.bars.count } ?? self.bars.count
        guard first < end else { return [] }
        return from == nil ? self.bars[first..<end].suffix(limit) : self.bars[first..<end].prefix(limit)
    }
}
