extension PriceHistory {
    /// A hole in a chart whose trades may still come. Times are ns of the history's clock.
    struct AwaitedHole: Sendable {
        /// The ids of the trades; without them ``published`` tells the hole from others.
        var missing: ClosedRange<UInt64>?
        /// The times of the published gap.
        var published: ClosedRange<Int64>
        /// The time of the newest price before it.
        var from: Int64
        /// The time of the first price after it; `nil` before that.
        var to: Int64?
    }

    /// Adds the price of a filled trade, which the chart shows when its hole is filled (``gapSettled(_:published:isComplete:)``).
    ///
    /// - Parameters:
    ///   - time: ns of the history's clock; a time outside of the hole counts at its edge.
    ///   - volume: the size of the trade.
    package mutating func filled(_ price: ExactDecimal, at time: Int64, volume: Double = 0) {
        guard !self.body[0].awaited.isEmpty else { return }
        self.body[0].filled(PricePoint(start: Self.bounded(time), price: price, volume: volume))
    }

    /// Notes the outcome of a hole: if all trades have come, the chart has their prices in its place.
    ///
    /// - Parameter published: the times of the gap, which tell it if it has no ids; `nil` if these are enough.
    package mutating func gapSettled(
        _ missing: ClosedRange<UInt64>?,
        published: ClosedRange<Int64>? = nil,
        isComplete: Bool
    ) {
        guard !self.body[0].awaited.isEmpty else { return }
        if missing != nil, let index = self.body[0].awaited.firstIndex(where: { $0.missing == missing }) {
            return self.body[0].settled(index, isComplete: isComplete)
        }
        guard let published else { return }
        while let index = self.body[0].awaited.firstIndex(where: {
            $0.missing == nil && published.contains($0.published)
        }) {
            self.body[0].settled(index, isComplete: isComplete)
        }
    }
}

extension PriceHistory.Body {
    /// The most holes that are waited for, and the most seconds whose prices are kept until then.
    private static let limits = (holes: 64, points: 4_096)

    /// Begins a hole behind the newest price.
    mutating func await(_ missing: ClosedRange<UInt64>?, published: ClosedRange<Int64>, after newest: Int64) {
        // Of those without ids few have an outcome, soon after they began.
        if missing == nil, self.awaited.count(where: { $0.missing == nil }) >= AwaitedGaps.limitWithoutIDs,
            let oldest = self.awaited.firstIndex(where: { $0.missing == nil })
        {
            self.settled(oldest, isComplete: false)
        }
        guard self.awaited.count < Self.limits.holes else {
            self.isInterrupted = true
            return
        }
        self.awaited.append(PriceHistory.AwaitedHole(missing: missing, published: published, from: newest))
    }

    /// Ends the open holes at the time of a price; returns whether there are any.
    mutating func holesEnd(at time: Int64) -> Bool {
        guard !self.awaited.isEmpty else { return false }
        var awaits = false
        for index in self.awaited.indices where self.awaited[index].to == nil {
            self.awaited[index].to = max(time, self.awaited[index].from)
            awaits = true
        }
        return awaits
    }

    fileprivate mutating func filled(_ price: PricePoint) {
        var point = price
        let start = price.start - price.start % 1_000_000_000
        point.start = start
        // They come in the order of time, but for those of several holes.
        var index = self.filledPoints.count
        while index > 0, self.filledPoints[index - 1].start > start { index -= 1 }
        if index > 0, self.filledPoints[index - 1].start == start {
            self.filledPoints[index - 1].merge(point)
        } else if self.filledPoints.count < Self.limits.points {
            self.filledPoints.insert(point, at: index)
        } else {
            // The holes stay.
            (self.awaited, self.filledPoints) = ([], [])
        }
    }

    fileprivate mutating func settled(_ index: Int, isComplete: Bool) {
        let hole = self.awaited.remove(at: index)
        guard isComplete else {
            // Before the next price trades are missing for good. A hole that has ended keeps its mark.
            if hole.to == nil { self.isInterrupted = true }
            if self.awaited.isEmpty { self.filledPoints = [] }
            return
        }
        // Without a price behind it the hole was never drawn.
        let end = hole.to ?? .max
        let isLast = self.awaited.isEmpty
        // The exchange's clock may differ a little from that of the arrivals.
        let times = (hole.from - BarSeries.usualDelay)...PriceHistory.bounded(end) + BarSeries.usualDelay
        var own = self.filledPoints.filter { isLast || times.contains($0.start) }
        self.filledPoints.removeAll { isLast || times.contains($0.start) }
        for index in own.indices { own[index].start = min(max(own[index].start, hole.from), end) }
        let others = self.awaited.compactMap(\.to)
        func awaits(_ period: Range<Int64>) -> Bool { others.contains { period.contains($0) } }
        self.change { $0.fill(own, upTo: end, awaits: awaits) }
        if let last = own.last, hole.to == nil { self.newest = max(self.newest ?? last.start, last.start) }
    }
}
