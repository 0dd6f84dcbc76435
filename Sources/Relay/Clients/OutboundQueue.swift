import NIOCore

/// What was written to one client and waits for it in this program: bytes, messages, and what becomes of a client that does
/// not keep up (``Backlog``).
struct OutboundQueue {
    /// What others must know when it changes.
    struct Pace: Equatable {
        /// Whether the feed is to wait for the client.
        var holdsUpFeed: Bool
        /// Whether the client is looked at now and then, and given up when it takes nothing.
        var isWatched: Bool
    }

    private(set) var backlog: Backlog
    private var messages = PendingMessages()
    /// The most bytes that can ever wait: what waits stays below its limit but for a message that nothing was in front of.
    let maximumWaiting: Int
    /// All bytes that were written to the channel, compressed ones as such; without those that went by the lane.
    private(set) var writtenBytes = 0
    /// Whether the session catches up without missing anything, so that a feed that can wait must not outrun it.
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

    /// How many messages wait when so many bytes do.
    mutating func waitingMessages(_ waiting: Int) -> Int { self.messages.count(waiting: waiting) }

    /// Returns whether trades may be written; see ``Backlog/offered(trades:bytes:messages:waiting:waitingMessages:now:)``.
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

    /// Lets something happen to the backlog.
    mutating func change<Answer>(_ event: (inout Backlog) -> Answer) -> Answer { event(&self.backlog) }
}
