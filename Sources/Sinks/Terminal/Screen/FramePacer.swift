/// The rhythm of drawing: at once when the screen has been calm, never faster than the cap, and asleep when nothing
/// on it would change.
///
/// Times are monotonic nanoseconds.
package struct FramePacer: Sendable {
    package enum Action: Sendable, Equatable {
        case draw
        /// Nothing to do before that time; `nil`: nothing to do at all until something new comes.
        case sleep(until: Int64?)
    }

    /// The least time between two frames.
    package let interval: Int64
    private var lastFrame: Int64?
    /// Whether something has changed since the last frame, so that the next one comes without another call.
    package private(set) var isDirty = true
    private var contentChangesAt: Int64?

    /// - Parameter framesPerSecond: 1 to 60.
    package init(framesPerSecond: Int = 10) {
        self.interval = 1_000_000_000 / Int64(min(max(framesPerSecond, 1), 60))
    }

    /// Notes that a frame drawn now may look different.
    package mutating func contentChanged() {
        self.isDirty = true
    }

    /// Notes that a frame was made, and when its text changes by the clock alone.
    package mutating func drew(now: Int64, contentChangesAt: Int64?) {
        self.lastFrame = now
        self.isDirty = false
        self.contentChangesAt = contentChangesAt
    }

    /// What to do at `now`.
    package func next(now: Int64) -> Action {
        let wanted: Int64
        if self.isDirty {
            wanted = now
        } else if let changes = self.contentChangesAt {
            wanted = changes
        } else {
            return .sleep(until: nil)
        }
        let allowed = self.lastFrame.map { $0 + self.interval } ?? now
        let due = max(wanted, allowed)
        return due <= now ? .draw : .sleep(until: due)
    }
}
