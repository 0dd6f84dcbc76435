import Market

/// A recording's time, scaled from the monotonic clock; it can be paused and set.
///
/// All times are nanoseconds: `recorded` since the recording's start, `now` of the monotonic clock.
package struct ReplayClock: Sendable, Equatable {
    /// A bound beyond any replay's length, about a year: a speed near zero must not overflow the clock.
    private static let never: Int64 = 32_000_000_000_000_000

    /// The factor on the recording's pace; `nil` plays as fast as the readers take it.
    package private(set) var speed: Double?
    package private(set) var isPaused: Bool
    /// A monotonic time and the recorded time at it.
    private var origin: (monotonic: Int64, recorded: Int64)

    package init(speed: Double?, recorded: Int64 = 0, now: Int64 = 0, isPaused: Bool = false) {
        self.speed = speed
        self.isPaused = isPaused
        self.origin = (now, recorded)
    }

    /// Returns the recorded time. At the speed `max` this is the time last set.
    package func recorded(now: Int64) -> Int64 {
        guard !self.isPaused, let speed else { return self.origin.recorded }
        let (elapsed, isOut) = now.subtractingReportingOverflow(self.origin.monotonic)
        guard !isOut, elapsed > 0 else { return self.origin.recorded }
        return self.origin.recorded.addingCapped(Self.nanoseconds(Double(elapsed) * speed))
    }

    /// Returns when the clock reaches `recorded`, or reached it, in monotonic ns; `nil` while it is paused.
    package func due(recorded: Int64, now: Int64) -> Int64? {
        guard !self.isPaused else { return nil }
        guard let speed else { return now }
        let (distance, isOut) = recorded.subtractingReportingOverflow(self.origin.recorded)
        guard !isOut, distance > 0 else { return self.origin.monotonic }
        return self.origin.monotonic.addingCapped(Self.nanoseconds(Double(distance) / speed))
    }

    /// Sets the recorded time.
    package mutating func set(recorded: Int64, now: Int64) { self.origin = (now, recorded) }

    /// Changes the speed, from the current recorded time on.
    package mutating func change(speed: Double?, now: Int64) {
        self.origin = (now, self.recorded(now: now))
        self.speed = speed
    }

    package mutating func pause(now: Int64) {
        self.origin = (now, self.recorded(now: now))
        self.isPaused = true
    }

    package mutating func resume(now: Int64) {
        self.origin = (now, self.recorded(now: now))
        self.isPaused = false
    }

    private static func nanoseconds(_ value: Double) -> Int64 { Int64(min(max(value, 0), Double(Self.never))) }

    package static func == (left: ReplayClock, right: ReplayClock) -> Bool {
        left.speed == right.speed && left.isPaused == right.isPaused && left.origin == right.origin
    }
}
