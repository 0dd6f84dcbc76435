import Market

/// A recording's own time, stretched over the monotonic clock; it can stand still and be set.
///
/// Both times are nanoseconds: `recorded` since the recording's start, `now` of the monotonic clock.
package struct ReplayClock: Sendable, Equatable {
    /// Farther away than any replay lasts, about a year: a speed near zero must not overflow the clock.
    private static let never: Int64 = 32_000_000_000_000_000

    /// How many times the recording's own pace; `nil` is as fast as the readers take it.
    package private(set) var speed: Double?
    package private(set) var isPaused: Bool
    /// A moment and what the recording's clock showed in it.
    private var origin: (monotonic: Int64, recorded: Int64)

    package init(speed: Double?, recorded: Int64 = 0, now: Int64 = 0, isPaused: Bool = false) {
        self.speed = speed
        self.isPaused = isPaused
        self.origin = (now, recorded)
    }

    /// What the recording's clock shows. As fast as it goes, it shows what it was last set to.
    package func recorded(now: Int64) -> Int64 {
        guard !self.isPaused, let speed else { return self.origin.recorded }
        let (elapsed, isOut) = now.subtractingReportingOverflow(self.origin.monotonic)
        guard !isOut, elapsed > 0 else { return self.origin.recorded }
        return self.origin.recorded.addingCapped(Self.nanoseconds(Double(elapsed) * speed))
    }

    /// When the recording's clock will show `recorded`, or did; `nil` while it stands still.
    package func due(recorded: Int64, now: Int64) -> Int64? {
        guard !self.isPaused else { return nil }
        guard let speed else { return now }
        let (distance, isOut) = recorded.subtractingReportingOverflow(self.origin.recorded)
        guard !isOut, distance > 0 else { return self.origin.monotonic }
        return self.origin.monotonic.addingCapped(Self.nanoseconds(Double(distance) / speed))
    }

    /// Sets what the clock shows.
    package mutating func set(recorded: Int64, now: Int64) { self.origin = (now, recorded) }

    /// Lets it go on at another speed from what it shows.
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
