/// The bars of one symbol, of one width, made from its trades as they come.
///
/// - A stretch without a trade has no bar: none is ever filled in.
/// - A bar is given out once a price has come that lies ``grace`` behind its end, or the time has (``passed(_:)``), so that
///   a late trade still finds its bar. One that comes later still is counted in ``late`` and changes nothing.
/// - A bar is incomplete when a gap touches it, and when the tape began or ended within it.
/// - A clock that is set back by more than the reorder window of ``Board`` (a recording that begins again) ends all bars and
///   begins anew.
///
/// A pure machine. Times are ns since 1970 by the exchange's clock; gaps are told by ours, which is near enough where both
/// clocks are right.
package struct BarMachine: Sendable {
    /// A second, a minute, five minutes and an hour; ns.
    package static let widths: [Int64] = [1_000_000_000, 60_000_000_000, 300_000_000_000, 3_600_000_000_000]

    package let width: Int64
    /// How long a bar waits for late trades after its end, ns.
    package let grace: Int64
    /// The bars under way, the oldest first; at most `grace / width + 2`.
    package private(set) var open: [Bar] = []
    /// Trades that came when their bar had been given out.
    package private(set) var late: UInt64 = 0
    private var newest: Int64?
    /// The first moment of which everything is known; what begins before it is incomplete.
    private var knownFrom: Int64?
    /// The stretch of the latest gap.
    private var gap: Range<Int64>?
    /// The end of the newest bar given out.
    private var given = Int64.min

    /// - Parameters:
    ///   - width: ns, above 0.
    ///   - grace: ns, from 0 to the reorder window of ``Board``.
    package init(width: Int64, grace: Int64 = 0) {
        precondition(width > 0, "bars \(width) ns wide")
        self.width = width
        self.grace = min(max(grace, 0), Board.reorderWindow)
    }

    /// Takes in a trade or a price update; returns the bars that it shows to be over, the oldest first.
    package mutating func take(price: ExactDecimal, size: ExactDecimal, time: Int64) -> [Bar] {
        let time = Self.bounded(time)
        var over: [Bar] = []
        if let newest = self.newest, newest - time > Board.reorderWindow {
            over = self.end()
            self.given = .min
            self.newest = nil
            self.knownFrom = nil
        }
        if self.knownFrom == nil { self.knownFrom = time }
        self.newest = max(self.newest ?? time, time)
        over += self.passed(self.newest ?? time)
        let start = self.start(of: time)
        guard start >= self.given else {
            self.late += 1
            return over
        }
        if let index = self.open.lastIndex(where: { $0.start <= start }) {
            if self.open[index].start == start {
                self.open[index].take(price: price, size: size, time: time)
            } else {
                self.open.insert(self.bar(start, price, size, time), at: index + 1)
            }
        } else {
            self.open.insert(self.bar(start, price, size, time), at: 0)
        }
        return over
    }

    /// Takes that no price before `time`, less the grace, will come any more; returns the bars that are over by that.
    package mutating func passed(_ time: Int64) -> [Bar] {
        let limit = Self.bounded(time) - self.grace
        let count = self.open.firstIndex { $0.end > limit } ?? self.open.count
        guard count > 0 else { return [] }
        let over = Array(self.open.prefix(count))
        self.open.removeFirst(count)
        self.given = over[count - 1].end
        return over
    }

    /// Takes that trades between two moments may be missing.
    package mutating func gapFound(from: Int64, to: Int64) {
        let (from, to) = (Self.bounded(from), Self.bounded(max(from, to)))
        // Two gaps touch the same bar rarely, and then it is the same whether one of them was wider.
        self.gap = from..<max(to, from + 1)
        for index in self.open.indices where self.isTouched(start: self.open[index].start) {
            self.open[index].isIncomplete = true
        }
    }

    /// Ends all bars, as the tape does: the one under way is incomplete.
    package mutating func end() -> [Bar] {
        var over = self.open
        self.open = []
        for index in over.indices where over[index].end > (self.newest ?? .min) { over[index].isIncomplete = true }
        if let last = over.last { self.given = last.end }
        return over
    }

    private func bar(_ start: Int64, _ price: ExactDecimal, _ size: ExactDecimal, _ time: Int64) -> Bar {
        let isPartial = start < (self.knownFrom ?? .max) || self.isTouched(start: start)
        return Bar(start: start, width: self.width, price: price, size: size, time: time, isIncomplete: isPartial)
    }

    private func isTouched(start: Int64) -> Bool {
        guard let gap = self.gap else { return false }
        return gap.lowerBound < start + self.width && gap.upperBound > start
    }

    private func start(of time: Int64) -> Int64 {
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: self.width)
        return (remainder < 0 ? quotient - 1 : quotient) * self.width
    }

    /// Foreign times may be any number; what is 73 years away is as good as for ever, and can be calculated with.
    private static func bounded(_ time: Int64) -> Int64 { min(max(time, -(1 << 61)), 1 << 61) }
}
