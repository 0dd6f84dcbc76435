import Market

/// The periods of one run in which the feed had one state, as they are stored.
///
/// A state machine; time is an argument. The end of the newest period is written again and again, so that a program
/// without a last word, as after a power cut, counts as running up to the last written moment.
struct RunPeriods {
    /// The longest time without a write, ns.
    static let interval: Int64 = 10_000_000_000
    /// How much farther than the monotonic clock the wall clock may go between two calls, ns.
    private static let jump: Int64 = 5_000_000_000

    private(set) var current: FeedPeriod?
    private var unsaved: [FeedPeriod] = []
    /// When the newest period was written last, and when ``timePassed`` was called last: wall clock and monotonic, ns.
    private var written: Int64 = .min
    private var last: (wall: Int64, monotonic: Int64)?
    /// The beginning of the first period, which names the run; ns since 1970; `nil` before the first status.
    private var run: Int64?
    /// When the program began, ns since 1970. Another one's feed may have had its state for longer.
    private let start: Int64

    init(start: Int64 = .min) { self.start = start }

    /// Takes a status of the feed.
    ///
    /// - Parameter now: ns since 1970.
    mutating func statusChanged(_ status: FeedStatus, now: Int64) {
        if status.phase == .stopped { return self.end(now: now) }
        let first = min(max(status.since, self.start), now)
        let run = self.run ?? first
        self.run = run
        guard var ending = self.current else { return self.begin(status, run: run, at: first) }
        if ending.state == Self.word(status) {
            // The first reason of a state is that of its beginning.
            if ending.reason == nil { self.current?.reason = status.reason }
            return
        }
        // A state may begin before it is reported, but not before the last one.
        let at = min(max(status.since, ending.begun), max(now, ending.begun))
        ending.ended = at
        if at > ending.begun { self.unsaved.append(ending) }
        self.begin(status, run: run, at: at)
    }

    private mutating func begin(_ status: FeedStatus, run: Int64, at time: Int64) {
        self.current = FeedPeriod(
            run: run,
            begun: time,
            ended: time,
            state: Self.word(status),
            reason: status.reason
        )
        self.written = .min
    }

    /// The state that is stored (``FeedPeriod/state``).
    private static func word(_ status: FeedStatus) -> String {
        status.phase == .late ? FeedStatus.Phase.live.word : status.word
    }

    /// Notes the end of the run.
    private mutating func end(now: Int64) {
        guard var ending = self.current else { return }
        ending.ended = max(now, ending.begun)
        self.unsaved.append(ending)
        self.current = nil
    }

    /// Begins anew: what was before belongs to another program, which wrote the history until now.
    mutating func tookOver(now: Int64) {
        self.unsaved = []
        self.current?.begun = now
        self.current?.ended = now
        self.written = .min
    }

    /// Notes the time. A wall clock that has left the monotonic one behind means that the machine slept.
    mutating func timePassed(wall: Int64, monotonic: Int64) {
        defer { self.last = (wall, monotonic) }
        guard var period = self.current else { return }
        if let last, (wall - last.wall) - (monotonic - last.monotonic) > Self.jump {
            self.unsaved.append(period)
            period.begun = wall
            self.written = .min
        }
        period.ended = max(wall, period.begun)
        self.current = period
    }

    /// Returns what is to be written now, the oldest first.
    ///
    /// - Parameter isDue: whether the newest period is written even if it was written a moment ago.
    mutating func take(isDue: Bool) -> [FeedPeriod] {
        var taken = self.unsaved
        self.unsaved = []
        if let current, isDue || !taken.isEmpty || self.written == .min || current.ended - self.written >= Self.interval
        {
            taken.append(current)
            self.written = current.ended
        }
        return taken
    }
}
