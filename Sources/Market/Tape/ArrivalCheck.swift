/// The check whether a trade is ahead: its time is later than its arrival by more than clocks and delays explain.
///
/// A state machine. The writer of a tape calls it once a read, and it marks trades with ``TradeMarks/ahead``, which all
/// readers of the tape respect. A single trade with a wrong time is the venue's mistake. If most of the last reads are
/// ahead by about the same amount, our clock is behind: from then on that amount is added to the arrivals, and the
/// trades count by their own time. A clock of ours that is ahead is not corrected, because it looks like a service that
/// is late.
package struct ArrivalCheck: Sendable {
    /// The lead of a trade over its arrival that is still accepted, ns.
    package static let tolerance: Int64 = 5_000_000_000
    /// The number of reads that are compared, and the number of them that is a majority.
    package static let window = 20
    static let majority = 11
    /// The largest difference from their median at which leads count as alike, ns.
    static let likeness: Int64 = 2_500_000_000

    /// How far our clock is behind the exchange's according to most of the last reads, ns; 0 while they show nothing
    /// else.
    package private(set) var offset: Int64 = 0
    /// The lead of each of the last reads over its arrival, ns; negative for nearly every read.
    private var leads = InlineArray<20, Int64>(repeating: 0)
    private var count = 0
    private var next = 0

    package init() {}

    /// Marks the trades of a read that are ahead.
    ///
    /// - Parameters:
    ///   - trades: the trades; those of the read begin at `first`.
    ///   - received: our wall clock at the read, ns since 1970.
    /// - Returns: the arrival by the exchange's clock, ns since 1970, as which the marked trades count; `nil` if no
    ///   trade is ahead.
    package mutating func judge(_ trades: inout [Trade], from first: Int = 0, received: Int64) -> Int64? {
        guard first < trades.count else { return nil }
        let (arrival, newest) = self.mark(&trades, from: first, received: received)
        self.note(newest.distance(from: received))
        guard self.agree() else { return arrival }
        for index in first..<trades.count { trades[index].marks.remove(.ahead) }
        return self.mark(&trades, from: first, received: received).arrival
    }

    /// Marks trades that are ahead and were asked for. Nothing is learned from them: they are as old as they are.
    ///
    /// - Returns: as ``judge(_:from:received:)``.
    package func judgeEarlier(_ trades: inout [Trade], received: Int64) -> Int64? {
        trades.isEmpty ? nil : self.mark(&trades, from: 0, received: received).arrival
    }

    /// Marks the trades that are later than an arrival by the exchange's clock allows.
    ///
    /// - Returns: whether a trade was marked, and the time of the last trade that is not ahead, or of the last trade if
    ///   all are.
    @discardableResult
    package static func mark(_ trades: inout [Trade], from first: Int, arrival: Int64) -> (found: Bool, newest: Int64) {
        let limit = arrival.addingCapped(Self.tolerance)
        var isFound = false
        for index in first..<trades.count where trades[index].exchangeTime > limit {
            trades[index].marks.insert(.ahead)
            isFound = true
        }
        let newest = isFound ? trades[first...].last { !$0.marks.contains(.ahead) } : nil
        return (isFound, (newest ?? trades[trades.count - 1]).exchangeTime)
    }

    private func mark(
        _ trades: inout [Trade],
        from first: Int,
        received: Int64
    ) -> (arrival: Int64?, newest: Int64) {
        let arrival = received.addingCapped(self.offset)
        let (isFound, newest) = Self.mark(&trades, from: first, arrival: arrival)
        return (isFound ? arrival : nil, newest)
    }

    private mutating func note(_ lead: Int64) {
        self.leads[self.next] = lead
        self.next = self.next + 1 == Self.window ? 0 : self.next + 1
        self.count = min(self.count + 1, Self.window)
    }

    /// Computes the offset again if the newest read does not fit it; returns whether it has changed.
    private mutating func agree() -> Bool {
        let newest = self.leads[(self.next + Self.window - 1) % Self.window]
        if newest > self.offset + Self.tolerance { return self.fallBehind() }
        if self.offset > 0, newest < self.offset - Self.tolerance { return self.comeBack() }
        return false
    }

    /// Raises the offset if most of the reads are ahead by about the same amount: our clock is behind, or further
    /// behind.
    private mutating func fallBehind() -> Bool {
        let ahead = self.sorted.filter { $0 > self.offset + Self.tolerance }
        guard ahead.count >= Self.majority else { return false }
        let median = ahead[ahead.count / 2]
        guard ahead.count(where: { ($0 - median).magnitude <= Self.likeness }) >= Self.majority else { return false }
        self.offset = median
        return true
    }

    /// Lowers the offset if all reads agree. Fewer do not suffice, because a service may be late for a while.
    private mutating func comeBack() -> Bool {
        let sorted = self.sorted
        guard sorted.count == Self.window, sorted[Self.window - 1] < self.offset - Self.tolerance else { return false }
        let median = sorted[Self.window / 2]
        self.offset = median > Self.tolerance ? median : 0
        return true
    }

    private var sorted: [Int64] { (0..<self.count).map { self.leads[$0] }.sorted() }
}

extension Int64 {
    /// Returns how much later this is than another moment, ns. The exchange's time is untrusted input and may be any
    /// number, so the result is limited to leave room for the tolerance.
    fileprivate func distance(from other: Int64) -> Int64 {
        let (difference, isOut) = self.subtractingReportingOverflow(other)
        let furthest = Int64.max - 2 * ArrivalCheck.tolerance
        if isOut { return self < 0 ? -furthest : furthest }
        return Swift.min(Swift.max(difference, -furthest), furthest)
    }
}
