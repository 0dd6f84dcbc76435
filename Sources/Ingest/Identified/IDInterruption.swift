import Market

/// An interruption of a feed with ids since a symbol's newest trade: the reason of a hole that shows after it.
struct IDInterruption {
    /// The last moment before which nothing is missing; wall clock, ns since 1970.
    var from: Int64
    var reason: String
    var cause: FeedStatus.Cause?
    /// The attempts to connect since then.
    var attempts = 0

    /// The reason with the number of attempts, as ``GapTracker`` has it.
    var text: String { self.attempts > 1 ? "\(self.reason), \(self.attempts) attempts" : self.reason }
}
