import NIOCore

/// Whether a peer takes an answer, judged by what is left of it; time is an argument.
///
/// A slow peer may pause for the time of the patience, and needs a least pace: an answer is memory, and may not be held for as
/// long as a peer likes.
struct AnswerProgress: Equatable {
    /// The least pace on average, in bytes per second.
    private static let leastPace = 8 << 10

    private let patience: TimeAmount
    /// When all must have left, at the least pace and one patience.
    private let last: NIODeadline
    /// The bytes that were left when they last became fewer.
    private(set) var left: Int
    private var since: NIODeadline

    /// - Parameter patience: how long nothing may leave.
    init(left: Int, patience: TimeAmount, now: NIODeadline) {
        self.left = left
        self.patience = patience
        self.since = now
        let seconds = Double(left) / Double(Self.leastPace)
        self.last = now + patience + .nanoseconds(Int64(seconds * 1_000_000_000))
    }

    /// Takes what is left now, and answers whether the peer takes nothing any more, or too little.
    mutating func isStuck(left: Int, now: NIODeadline) -> Bool {
        if left < self.left {
            self.left = left
            self.since = now
        }
        return now - self.since >= self.patience || now >= self.last
    }
}
