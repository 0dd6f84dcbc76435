import NIOCore

/// Whether a peer takes its answers, judged by what is left of them; time is an argument.
///
/// A slow peer may pause for the time of the patience, and needs a least pace: an answer is memory, and may not be held for as
/// long as a peer likes. Nor may a row of answers, each of which is taken in time: what one of them takes too long, those
/// behind it have less.
struct AnswerProgress: Equatable {
    /// The least pace on average, in bytes per second.
    private static let leastPace = 8 << 10

    private let patience: TimeAmount
    /// When all must have left, at the least pace and one patience.
    private var last: NIODeadline
    /// The bytes that were left when they last became fewer.
    private(set) var left: Int
    private var since: NIODeadline
    /// When the newest answer had left the program; from then on the time is not the peer's.
    private var restsSince: NIODeadline?

    /// - Parameters:
    ///   - patience: how long nothing may leave.
    ///   - earlier: that of the answers before, if the peer has not taken all of them.
    init(left: Int, patience: TimeAmount, now: NIODeadline, behind earlier: AnswerProgress? = nil) {
        self.left = left
        self.patience = patience
        self.since = now
        let last = now + patience + Self.time(for: left)
        self.last = min(last, earlier?.last ?? last)
    }

    /// Takes what is left now, and returns whether the peer takes nothing any more, or too little.
    mutating func isStuck(left: Int, now: NIODeadline) -> Bool {
        if left < self.left {
            self.left = left
            self.since = now
        }
        return now - self.since >= self.patience || now >= self.last
    }

    /// The answer has left the program.
    mutating func answerLeft(now: NIODeadline) { self.restsSince = now }

    /// Another answer goes out, although the peer has not taken all of those before.
    mutating func answerFollows(bytes: Int, now: NIODeadline) {
        let rest = self.restsSince.map { now - $0 } ?? .zero
        self.last = self.last + rest + Self.time(for: bytes)
        self.restsSince = nil
    }

    /// The time that so many bytes take at the least pace.
    private static func time(for bytes: Int) -> TimeAmount {
        .nanoseconds(Int64(Double(bytes) / Double(Self.leastPace) * 1_000_000_000))
    }
}
