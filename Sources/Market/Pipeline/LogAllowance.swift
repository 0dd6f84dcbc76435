/// The limit on how often one kind of line is logged: so many a minute, and the rest are counted.
///
/// A machine: time is monotonic ns.
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

    /// When there is room again, once there is none; monotonic ns.
    package var reopens: Int64 { self.began + self.interval }

    /// Whether a line may be logged now; `nil` when not, else how many were left out before it.
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
