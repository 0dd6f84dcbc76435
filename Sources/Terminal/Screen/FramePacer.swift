/// The rhythm of drawing: at once when the screen has been calm, never faster than the cap, slower where frames are large,
/// and asleep when nothing on it would change.
///
/// Times are monotonic nanoseconds.
package struct FramePacer: Sendable {
    package enum Action: Sendable, Equatable {
        case draw
        /// Nothing to do before that time; `nil`: nothing to do at all until something new comes.
        case sleep(until: Int64?)
    }

    /// The least time between two frames.
    let interval: Int64
    private var budget: ByteBudget?
    private var lastFrame: Int64?
    /// Whether something has changed since the last frame, so that the next one comes without another call.
    private(set) var isDirty = true
    /// Whether that is nothing to save bytes on.
    private var isUrgent = true
    private var contentChangesAt: Int64?
    /// When the clock alone makes something untrue that the picture says of a price or of the feed.
    private var stateChangesAt: Int64?

    /// - Parameters:
    ///   - framesPerSecond: 1 to 60.
    ///   - bytesPerSecond: how many bytes frames may have together; `nil` for any number.
    init(framesPerSecond: Int = 10, bytesPerSecond: Int? = nil) {
        self.interval = 1_000_000_000 / Int64(min(max(framesPerSecond, 1), 60))
        self.budget = bytesPerSecond.map { ByteBudget(rate: $0) }
    }

    /// Notes that a frame drawn now may look different.
    ///
    /// - Parameter isUrgent: whether somebody waits for it, so that only the cap on frames holds it up.
    mutating func contentChanged(isUrgent: Bool = false) {
        self.isDirty = true
        self.isUrgent = self.isUrgent || isUrgent
    }

    /// Notes that a frame was made of so many bytes.
    ///
    /// - Parameters:
    ///   - contentChangesAt: when its text changes by the clock alone.
    ///   - stateChangesAt: when a state in it does so, a price is late, say, which the budget does not hold up.
    mutating func drew(now: Int64, bytes: Int = 0, contentChangesAt: Int64?, stateChangesAt: Int64? = nil) {
        self.lastFrame = now
        self.isDirty = false
        self.isUrgent = false
        self.contentChangesAt = contentChangesAt
        self.stateChangesAt = stateChangesAt
        self.budget?.sent(bytes, now: now)
    }

    /// What to do at `now`.
    func next(now: Int64) -> Action {
        let wanted = self.isDirty ? now : self.contentChangesAt
        let due = [wanted.map { max($0, self.paid(now: now)) }, self.stateDue(now: now)].compactMap(\.self).min()
        guard let due else { return .sleep(until: nil) }
        return due <= now ? .draw : .sleep(until: due)
    }

    /// The earliest time for the next frame, if there is something to draw.
    func allowed(now: Int64) -> Int64 { min(self.paid(now: now), self.stateDue(now: now) ?? .max) }

    /// When a frame has to come although those before it have not been earned.
    private func stateDue(now: Int64) -> Int64? { self.stateChangesAt.map { max($0, self.capped(now: now)) } }

    private func paid(now: Int64) -> Int64 {
        let capped = self.capped(now: now)
        guard let budget, !self.isUrgent else { return capped }
        return max(capped, budget.due(now: now))
    }

    private func capped(now: Int64) -> Int64 { self.lastFrame.map { $0 + self.interval } ?? now }
}
