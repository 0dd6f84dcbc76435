/// A place in a replay.
package enum ReplayPlace: Sendable, Equatable {
    /// The recording's own wall clock, ns since 1970.
    case time(Int64)
    /// The distance from the recording's start, ns.
    case offset(Int64)
    /// A percentage of the recording's length in time, 0 to 100.
    case percent(Double)
    /// The first trade after the next recorded gap or five seconds without trades, whichever comes first.
    case nextGap

    /// Returns a percentage, 0 to 100, of a length, ns. The longest length is possible, too, although a `Double` cannot
    /// hold it.
    package static func part(_ percent: Double, of length: Int64) -> Int64 {
        let part = Double(length) * min(max(percent, 0), 100) / 100
        return Int64(exactly: part.rounded()) ?? .max
    }
}

/// A request to a running replay, from a person or a program.
package enum ReplayRequest: Sendable, Equatable {
    case pause
    case resume
    case togglePause
    /// A multiple of the recorded pace; `nil` is as fast as the slowest lossless reader allows.
    case speed(Double?)
    /// One step up or down: 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1,000, as fast as possible.
    case faster
    case slower
    /// Plays this number of messages and pauses.
    case stepMessages(Int)
    /// Plays this many ns of the recording and pauses; a negative number goes back.
    case stepTime(Int64)
    case seek(ReplayPlace)
}

/// The position and the state of a replay.
package struct ReplayPosition: Sendable, Equatable {
    /// The recording's wall clock at its first and its last message, ns since 1970. A simulated market without an end
    /// has a value near the largest possible as its end.
    package var start: Int64
    package var end: Int64
    package var hasEnd: Bool { self.end <= .max / 2 }
    /// The recording's wall clock at the current position, ns since 1970.
    package var at: Int64
    /// The speed, as in ``ReplayRequest/speed(_:)``.
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
