/// When a recorded frame is due: a recording's own clock stretched over the monotonic one.
package struct ReplayPacer: Sendable {
    /// How many times the recording's own pace; `nil` is as fast as the reader takes it.
    package let speed: Double?
    private var origin: (monotonic: Int64, recorded: Int64)?

    package init(speed: Double?) {
        self.speed = speed
    }

    /// When the frame that was recorded at `recorded` is due, both in nanoseconds; the first one is due at once.
    package mutating func due(recorded: Int64, now: Int64) -> Int64 {
        guard let speed else { return now }
        guard let origin else {
            self.origin = (now, recorded)
            return now
        }
        let elapsed = Double(recorded - origin.recorded) / speed
        // A speed near zero must not overflow the clock: a year from now is never.
        return origin.monotonic + Int64(min(max(elapsed, 0), 3.2e16))
    }

    /// Begins anew with the next frame, for a recording that starts over.
    package mutating func restart() {
        self.origin = nil
    }
}
