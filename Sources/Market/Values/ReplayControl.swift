/// A place in a replay.
package enum ReplayPlace: Sendable, Equatable {
    /// The recording's own wall clock, ns since 1970.
    case time(Int64)
    /// So far from the recording's start, ns.
    case offset(Int64)
    /// A part of the recording's length by time, 0 to 100.
    case percent(Double)
    /// The first trade behind the next gap that was recorded, or at least five seconds of silence where none was.
    case nextGap

    /// A part of a length, ns, 0 to 100; of the longest there is, too, which is no number of a `Double`'s.
    package static func part(_ percent: Double, of length: Int64) -> Int64 {
        let part = Double(length) * min(max(percent, 0), 100) / 100
        return Int64(exactly: part.rounded()) ?? .max
    }
}

/// What a person or a program may ask of a running replay.
package enum ReplayRequest: Sendable, Equatable {
    case pause
    case resume
    case togglePause
    /// So many times the recording's own pace; `nil` is as fast as the slowest lossless reader takes it.
    case speed(Double?)
    /// One rung up or down: 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1,000, as fast as it goes.
    case faster
    case slower
    /// Plays so many messages and pauses there.
    case stepMessages(Int)
    /// Plays so many ns of the recording and pauses there; back where negative.
    case stepTime(Int64)
    case seek(ReplayPlace)
}

/// Where a replay stands.
package struct ReplayPosition: Sendable, Equatable {
    /// The recording's wall clock at its first and its last message, ns since 1970. The end of a simulated market that has
    /// none is the last moment that there is.
    package var start: Int64
    package var end: Int64
    package var hasEnd: Bool { self.end <= .max / 2 }
    /// The recording's wall clock now, ns since 1970.
    package var at: Int64
    /// As ``ReplayRequest/speed(_:)``.
    package var speed: Double?
    package var isPaused: Bool

    package init(start: Int64, end: Int64, at: Int64, speed: Double?, isPaused: Bool = false) {
        self.start = start
        self.end = end
        self.at = at
        self.speed = speed
        self.isPaused = isPaused
    }
}
