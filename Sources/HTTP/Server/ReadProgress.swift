import NIOCore

/// A monitor of a peer that reads its responses, with the unread bytes and the time as arguments.
///
/// A peer may pause for the `patience`, and must keep a minimum average rate, because an unread response occupies
/// memory. The limit covers a series of responses too: a peer that is late with one has less time for the next.
struct ReadProgress: Equatable {
    /// The minimum average rate, in bytes per second.
    private static let minimumPace = 8 << 10

    private let patience: TimeAmount
    /// The time by which all bytes must have left, at the minimum rate plus one `patience`.
    private var last: NIODeadline
    /// The number of unread bytes when it last decreased.
    private(set) var left: Int
    private var since: NIODeadline
    /// The time when the newest response had left the program; the time after that does not count against the peer.
    private var restsSince: NIODeadline?

    /// - Parameters:
    ///   - patience: the longest time in which no bytes may leave.
    ///   - earlier: the progress of the previous responses, if the peer has not read all of them.
    init(left: Int, patience: TimeAmount, now: NIODeadline, behind earlier: ReadProgress? = nil) {
        self.left = left
        self.patience = patience
        self.since = now
        let last = now + patience + Self.time(for: left)
        self.last = min(last, earlier?.last ?? last)
    }

    /// Takes the number of unread bytes, and returns whether the peer reads nothing or too slowly.
    mutating func isStuck(left: Int, now: NIODeadline) -> Bool {
        if left < self.left {
            self.left = left
            self.since = now
        }
        return now - self.since >= self.patience || now >= self.last
    }

    /// Records that the response has left the program.
    mutating func answerLeft(now: NIODeadline) { self.restsSince = now }

    /// Records that another response is written while the peer has not read all previous ones.
    mutating func answerFollows(bytes: Int, now: NIODeadline) {
        let rest = self.restsSince.map { now - $0 } ?? .zero
        self.last = self.last + rest + Self.time(for: bytes)
        self.restsSince = nil
    }

    /// Returns the time for this many bytes at the minimum rate.
    private static func time(for bytes: Int) -> TimeAmount {
        .nanoseconds(Int64(Double(bytes) / Double(Self.minimumPace) * 1_000_000_000))
    }
}
