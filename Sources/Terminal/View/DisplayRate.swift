/// The rate of one symbol's trades, over the last ten whole seconds.
///
/// It excludes the current second, so that the displayed number changes at most once a second, at a known time. The
/// rate falls without new trades, so a silent feed never shows an old rate. Times are monotonic nanoseconds.
struct DisplayRate: Sendable {
    static let window: Int64 = 10

    /// Trades by second; second `s` uses slot `s % 11`, and the eleventh slot is the current second.
    private var counts: [11 of UInt32] = .init(repeating: 0)
    /// The newest second in `counts`, and the first second of all.
    private var newest: Int64?
    private var first: Int64 = 0

    /// Counts `trades` that arrived at `now`.
    mutating func add(_ trades: UInt64, now: Int64) {
        let second = Self.second(of: now)
        self.advance(to: second)
        // If the clock seems to run backwards, the trades count in the newest second.
        let slot = Self.slot(max(second, self.newest ?? second))
        let (sum, overflow) = self.counts[slot].addingReportingOverflow(UInt32(clamping: trades))
        self.counts[slot] = overflow ? .max : sum
    }

    /// Returns tenths of a trade per second at `now`; `nil` before the end of the first whole second.
    func tenthsPerSecond(now: Int64) -> Int64? {
        guard let newest else { return nil }
        let second = max(Self.second(of: now), newest)
        let from = max(second - Self.window, self.first)
        guard from < second else { return nil }
        let total = self.total(from..<second, newest: newest)
        return (total * 10 + (second - from) / 2) / (second - from)
    }

    /// Returns the next time at which the rate may change without a trade; `nil` once it is constant.
    func nextChange(now: Int64) -> Int64? {
        guard let newest else { return nil }
        let second = max(Self.second(of: now), newest)
        guard self.total((second - Self.window)..<(second + 1), newest: newest) > 0 else { return nil }
        return (second + 1) * 1_000_000_000
    }

    private func total(_ seconds: Range<Int64>, newest: Int64) -> Int64 {
        var total: Int64 = 0
        var second = max(seconds.lowerBound, newest - Self.window, self.first)
        while second < seconds.upperBound, second <= newest {
            total += Int64(self.counts[Self.slot(second)])
            second += 1
        }
        return total
    }

    private mutating func advance(to second: Int64) {
        guard let newest else {
            self.newest = second
            self.first = second
            return
        }
        guard second > newest else { return }
        var stale = max(newest + 1, second - Self.window)
        while stale <= second {
            self.counts[Self.slot(stale)] = 0
            stale += 1
        }
        self.newest = second
    }

    /// Returns the second in which trades of this time count.
    static func second(of now: Int64) -> Int64 {
        let (quotient, remainder) = now.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private static func slot(_ second: Int64) -> Int {
        let remainder = second % (Self.window + 1)
        return Int(remainder < 0 ? remainder + Self.window + 1 : remainder)
    }
}
