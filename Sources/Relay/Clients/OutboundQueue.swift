import NIOCore

/// The count of the bytes and messages that wait for one client in this program, and the policy for a client that does
/// not keep up (``Backlog``).
struct OutboundQueue {
    /// The part of the state whose changes others must know.
    struct Pace: Equatable {
        /// Whether the feed is to wait for the client.
        var holdsUpFeed: Bool
        /// Whether the client's progress is checked from time to time, and the client closed if it reads nothing.
        var isWatched: Bool
    }

    private(set) var backlog: Backlog
    private var messages = PendingMessages()
    /// The largest number of bytes that can ever wait. They stay below their limit, except for a single message with an
    /// empty queue before it.
    let maximumWaiting: Int
    /// The total of bytes written to the channel, counted in their compressed form, without those sent directly by the
    /// slot.
    private(set) var writtenBytes = 0
    /// Whether the session is catching up without loss, so that a feed that can wait must not outrun it.
    var isCatchingUp = false

    init(_ backlog: Backlog, maximumWaiting: Int) {
        self.backlog = backlog
        self.maximumWaiting = maximumWaiting
    }

    var pace: Pace {
        Pace(
            holdsUpFeed: self.backlog.holdsUpFeed || (self.isCatchingUp && self.backlog.feedWaits),
            isWatched: self.backlog.isWatched
        )
    }

    mutating func wrote(bytes: Int) { self.writtenBytes += bytes }

    /// Notes how many messages were in the bytes written last.
    mutating func wrote(messages: Int) {
        self.messages.wrote(messages: messages, bytes: self.writtenBytes, atMost: self.maximumWaiting)
    }

    /// Returns how many messages the given number of waiting bytes makes up.
    mutating func waitingMessages(_ waiting: Int) -> Int { self.messages.count(waiting: waiting) }

    /// Returns whether trades may be written; see
    /// ``Backlog/offered(trades:bytes:messages:waiting:waitingMessages:now:)``.
    mutating func offered(
        trades: UInt64,
        bytes: Int,
        messages: Int,
        waiting: Int,
        now: @autoclosure () -> NIODeadline
    ) -> Backlog.Offer {
        let waitingMessages = waiting > 0 ? self.messages.count(waiting: waiting) : 0
        return self.backlog.offered(
            trades: trades,
            bytes: bytes,
            messages: messages,
            waiting: waiting,
            waitingMessages: waitingMessages,
            now: now()
        )
    }

    /// Applies an event to the backlog.
    mutating func change<Answer>(_ event: (inout Backlog) -> Answer) -> Answer { event(&self.backlog) }
}
