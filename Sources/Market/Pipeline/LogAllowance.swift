/// The rate limit of one kind of log line: `most` lines an interval; the rest are counted.
///
/// A state machine; time is monotonic ns.
package struct LogAllowance: Sendable {
    private let most: Int
    private let interval: Int64
    private var began: Int64 = 0
    private var logged = 0
    private var leftOut = 0

    package init(most: Int = 20, interval: Int64 = 60_000_000_000) {
        self.most = most
        self.interval = interval
    }

    /// The end of the current interval, monotonic ns, from which lines are allowed again.
    package var reopens: Int64 { self.began + self.interval }

    /// Returns how many lines were left out before this one; `nil` if this one must not be logged now.
    package mutating func wanted(now: Int64) -> Int? {
        if self.logged == 0 || now - self.began >= self.interval {
            self.began = now
            self.logged = 0
        }
        guard self.logged < self.most else {
            self.leftOut += 1
            return nil
        }
        self.logged += 1
        defer { self.leftOut = 0 }
        return self.leftOut
    }
}
