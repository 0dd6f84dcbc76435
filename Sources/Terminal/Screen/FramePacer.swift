/// The pacing of frames: at once when the screen has been calm, never faster than the cap, slower where frames are
/// large, and none while nothing on the screen would change.
///
/// Times are monotonic nanoseconds.
package struct FramePacer: Sendable {
    package enum Action: Sendable, Equatable {
        case draw
        /// Nothing to do before that time; `nil`: nothing to do until something changes.
        case sleep(until: Int64?)
    }

    /// The least time between two frames.
    let interval: Int64
    private var budget: ByteBudget?
    private var lastFrame: Int64?
    /// Whether something has changed since the last frame, so that the next one is due without another call.
    private(set) var isDirty = true
    /// Whether that change is exempt from the byte budget.
    private var isUrgent = true
    private var contentChangesAt: Int64?
    /// When the clock alone changes a status that the screen shows for a price or the feed.
    private var stateChangesAt: Int64?

    /// - Parameters:
    ///   - framesPerSecond: 1 to 60.
    ///   - bytesPerSecond: the limit of all frames' bytes; `nil` for no limit.
    init(framesPerSecond: Int = 10, bytesPerSecond: Int? = nil) {
        self.interval = 1_000_000_000 / Int64(min(max(framesPerSecond, 1), 60))
        self.budget = bytesPerSecond.map { ByteBudget(rate: $0) }
    }

    /// Records that a frame drawn now may look different.
    ///
    /// - Parameter isUrgent: whether a person waits for it, so that only the cap on frames delays it.
    mutating func contentChanged(isUrgent: Bool = false) {
        self.isDirty = true
        self.isUrgent = self.isUrgent || isUrgent
    }

    /// Records a drawn frame.
    ///
    /// - Parameters:
    ///   - contentChangesAt: when its text changes by the clock alone.
    ///   - stateChangesAt: when a status in it does so, such as a price that becomes late. The budget does not delay
    ///     that.
    mutating func drew(now: Int64, bytes: Int = 0, contentChangesAt: Int64?, stateChangesAt: Int64? = nil) {
        self.lastFrame = now
        self.isDirty = false
        self.isUrgent = false
        self.contentChangesAt = contentChangesAt
        self.stateChangesAt = stateChangesAt
        self.budget?.sent(bytes, now: now)
    }

    /// Returns the action at `now`.
    func next(now: Int64) -> Action {
        let wanted = self.isDirty ? now : self.contentChangesAt
        let due = [wanted.map { max($0, self.paid(now: now)) }, self.stateDue(now: now)].compactMap(\.self).min()
        guard let due else { return .sleep(until: nil) }
        return due <= now ? .draw : .sleep(until: due)
    }

    /// Returns the earliest time for the next frame, if there is something to draw.
    func allowed(now: Int64) -> Int64 { min(self.paid(now: now), self.stateDue(now: now) ?? .max) }

    /// Returns when a frame is due even if the budget has not earned the previous ones.
    private func stateDue(now: Int64) -> Int64? { self.stateChangesAt.map { max($0, self.capped(now: now)) } }

    private func paid(now: Int64) -> Int64 {
        let capped = self.capped(now: now)
        guard let budget, !self.isUrgent else { return capped }
        return max(capped, budget.due(now: now))
    }

    private func capped(now: Int64) -> Int64 { self.lastFrame.map { $0 + self.interval } ?? now }
}
