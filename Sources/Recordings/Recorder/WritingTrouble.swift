/// The reporting of a failing disk: once when it begins to fail, and once when it has recovered.
struct WritingTrouble: Sendable {
    /// How long writing must have succeeded before another failure is reported, in nanoseconds: on a full disk a short
    /// line still fits now and then.
    static let quietInterval: Int64 = 60_000_000_000
    /// How long writing must succeed for a recovery, in nanoseconds.
    private static let recoveryTime: Int64 = 5_000_000_000

    /// When it last failed, and when it last failed or was too slow, monotonic ns; `nil` before the first time.
    private var lastFailure: Int64?
    private var last: Int64?
    private var unreported: String?
    /// Whether the newest write failed.
    private(set) var isFailing = false
    /// Whether a failure was reported, and its recovery not yet.
    private var isRecoveryDue = false
    private var hasRecovered = false

    /// Records a failed write, at a monotonic time in ns.
    mutating func failed(_ problem: String, now: Int64) {
        if self.lastFailure.map({ now - $0 >= Self.quietInterval }) ?? true {
            self.unreported = problem
            self.isRecoveryDue = true
        }
        self.lastFailure = now
        self.last = now
        self.isFailing = true
    }

    /// Records that the disk was too slow; the recorder reports that itself.
    mutating func wasSlow(now: Int64) {
        self.isRecoveryDue = true
        self.last = now
    }

    /// Records a successful write.
    mutating func succeeded(now: Int64) {
        self.isFailing = false
        guard self.isRecoveryDue, let last, now - last >= Self.recoveryTime else { return }
        self.isRecoveryDue = false
        self.hasRecovered = true
    }

    /// The problem with writing, once for each time it begins.
    mutating func takeProblem() -> String? {
        defer { self.unreported = nil }
        return self.unreported
    }

    /// Whether writing has recovered since the last reported failure; true once.
    mutating func takeRecovery() -> Bool {
        defer { self.hasRecovered = false }
        return self.hasRecovered
    }
}
