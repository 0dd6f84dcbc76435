/// What is said of a disk that fails: once when it begins to, and once when it is over.
struct WritingTrouble: Sendable {
    /// How long all must have gone well before a failure is news again, in nanoseconds: on a full disk a short line still
    /// finds room now and then.
    static let quietInterval: Int64 = 60_000_000_000
    /// How long it must go well for a failure to be over, in nanoseconds.
    private static let recoveryTime: Int64 = 5_000_000_000

    /// When it last failed, and when it last failed or was too slow, monotonic ns; `nil` while all is well.
    private var lastFailure: Int64?
    private var last: Int64?
    private var untold: String?
    /// Whether somebody was told that it fails, and not yet that it does no more.
    private var isRecoveryDue = false
    private var hasRecovered = false

    /// Notes that the disk did not do something, at a monotonic time in ns.
    mutating func failed(_ problem: String, now: Int64) {
        if self.lastFailure.map({ now - $0 >= Self.quietInterval }) ?? true {
            self.untold = problem
            self.isRecoveryDue = true
        }
        self.lastFailure = now
        self.last = now
    }

    /// Notes that the disk was too slow, which somebody else has told.
    mutating func wasSlow(now: Int64) {
        self.isRecoveryDue = true
        self.last = now
    }

    /// Notes that the disk took what was written.
    mutating func succeeded(now: Int64) {
        guard self.isRecoveryDue, let last, now - last >= Self.recoveryTime else { return }
        self.isRecoveryDue = false
        self.hasRecovered = true
    }

    /// What is wrong, once for each time it begins to be wrong.
    mutating func takeProblem() -> String? {
        defer { self.untold = nil }
        return self.untold
    }

    /// Whether all is well again since the failure that was told last; once.
    mutating func takeRecovery() -> Bool {
        defer { self.hasRecovered = false }
        return self.hasRecovered
    }
}
