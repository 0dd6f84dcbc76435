import NIOCore

/// The policy for a client that does not keep up with every trade. Time and the amount that waits are arguments.
///
/// In a live feed a limited number of bytes and messages may wait for the client. It is *behind* when more would wait,
/// or, with the policy to go on, when it reads nothing for `patience`. Nothing more is queued for a client that is
/// behind, and the trades it misses are counted. Once it has read its queue, it is closed with that count or, if it has
/// chosen so, goes on. A client that is to be closed is closed after `patience` in any case.
///
/// A feed that can wait (a replay) is asked to wait for the client instead. Only the waiting bytes are limited then,
/// and a client that reads nothing for `patience` is closed.
struct Backlog: Equatable {
    /// The answer to an offer of bytes.
    enum Offer: Equatable {
        case write
        case leaveOut
    }

    /// The action that an event calls for.
    enum Verdict: Equatable {
        case keep
        /// The client is to be closed; `missed` trades were left out.
        case close(missed: UInt64)
        /// The client has caught up and gets new trades again; `missed` trades were left out.
        case goOn(missed: UInt64)
    }

    private enum State: Equatable {
        case keepingUp
        /// More waits than should. `drained` is the total of bytes that had left when it last changed.
        case slow(drained: Int, since: NIODeadline)
        /// Nothing more is queued for the client.
        case behind(missed: UInt64, since: NIODeadline)
        case closing
    }

    private var limit: Int
    private var messageLimit: Int
    private let patience: TimeAmount
    /// Whether the feed can be asked to wait for the client.
    var feedWaits: Bool
    /// Whether a client that was behind is closed; otherwise it goes on.
    var closes: Bool
    private var state: State = .keepingUp

    /// - Parameters:
    ///   - limit: the most bytes that may wait for the client.
    ///   - messageLimit: the most messages that may wait for the client.
    ///   - feedWaits: whether the feed can be asked to wait for the client.
    init(
        limit: Int,
        messageLimit: Int = .max,
        patience: TimeAmount,
        feedWaits: Bool,
        closes: Bool = true
    ) {
        self.limit = limit
        self.messageLimit = messageLimit
        self.patience = patience
        self.feedWaits = feedWaits
        self.closes = closes
    }

    /// Changes whether the feed can be asked to wait, and the limits of what may wait for the client.
    mutating func change(feedWaits: Bool, limit: Int, messageLimit: Int, closes: Bool) {
        self.feedWaits = feedWaits
        self.limit = limit
        self.messageLimit = messageLimit
        self.closes = closes
    }

    /// Whether the feed is to wait for the client.
    var holdsUpFeed: Bool {
        if case .slow = self.state { self.feedWaits } else { false }
    }

    /// Whether nothing more is queued for the client.
    var isBehind: Bool {
        switch self.state {
        case .behind, .closing: true
        case .keepingUp, .slow: false
        }
    }

    /// The trades that the client has missed and that were not reported to it.
    var missed: UInt64 {
        if case .behind(let missed, _) = self.state { missed } else { 0 }
    }

    /// Whether `timePassed` must be called from time to time.
    var isWatched: Bool {
        switch self.state {
        case .slow, .behind: true
        case .keepingUp, .closing: false
        }
    }

    /// Decides whether new trades are written to the client.
    ///
    /// - Parameters:
    ///   - waiting: the bytes that wait for the client; 0 while the client is not watched and they are below the
    ///     channel's high mark.
    ///   - waitingMessages: the messages that wait for the client; evaluated only if bytes wait.
    ///   - now: evaluated only on a change of state, because reading the clock for every delivery costs measurable
    ///     time.
    mutating func offered(
        trades: UInt64,
        bytes: Int,
        messages: Int = 1,
        waiting: Int,
        waitingMessages: @autoclosure () -> Int = 0,
        now: @autoclosure () -> NIODeadline
    ) -> Offer {
        switch self.state {
        case .keepingUp, .slow:
            // A single message larger than the limit still goes to a client that has nothing waiting.
            guard waiting > 0 else { return .write }
            // A replay's feed stops when asked to. The trades already under way may still be many small messages.
            let isFull =
                waiting + bytes > self.limit
                || (!self.feedWaits && waitingMessages() + messages > self.messageLimit)
            guard isFull else { return .write }
            self.state = .behind(missed: trades, since: now())
            return .leaveOut
        case .behind(let missed, let since):
            self.state = .behind(missed: missed + trades, since: since)
            return .leaveOut
        case .closing:
            return .leaveOut
        }
    }

    /// Notes that some written bytes could not leave at once. That is allowed, but they have to leave in time.
    ///
    /// - Parameter drained: the total of bytes that have left so far.
    mutating func leftWaiting(drained: Int, now: NIODeadline) {
        // If the feed can wait, only the channel's high mark makes a client slow. Otherwise the keepalive has its own
        // limit.
        if !self.feedWaits { self.becameUnwritable(drained: drained, now: now) }
    }

    /// Notes that the waiting bytes have passed the channel's high mark.
    ///
    /// - Parameter drained: the total of bytes that have left so far.
    mutating func becameUnwritable(drained: Int, now: NIODeadline) {
        switch self.state {
        case .keepingUp: self.state = .slow(drained: drained, since: now)
        case .slow, .behind, .closing: break
        }
    }

    /// Notes that the waiting bytes have sunk below the channel's low mark.
    mutating func becameWritable() -> Verdict {
        switch self.state {
        case .keepingUp, .closing:
            return .keep
        case .slow:
            self.state = .keepingUp
            return .keep
        case .behind(let missed, _):
            self.state = self.closes ? .closing : .keepingUp
            return self.closes ? .close(missed: missed) : .goOn(missed: missed)
        }
    }

    /// Notes that the missed trades were reported to the client, which stays behind.
    mutating func reported() {
        if case .behind(_, let since) = self.state { self.state = .behind(missed: 0, since: since) }
    }

    /// Checks whether the client has read anything since the last call.
    ///
    /// - Parameters:
    ///   - drained: the total of bytes that have left so far.
    ///   - waiting: the bytes that wait for the client.
    mutating func timePassed(drained: Int, waiting: Int, now: NIODeadline) -> Verdict {
        switch self.state {
        case .keepingUp, .closing:
            return .keep
        case .slow where waiting == 0, .behind where waiting == 0:
            return self.becameWritable()
        case .slow(let before, let since):
            if drained > before {
                self.state = .slow(drained: drained, since: now)
            } else if now - since >= self.patience {
                self.state = self.closes ? .closing : .behind(missed: 0, since: now)
                return self.closes ? .close(missed: 0) : .keep
            }
            return .keep
        case .behind(let missed, let since):
            guard self.closes, now - since >= self.patience else { return .keep }
            self.state = .closing
            return .close(missed: missed)
        }
    }

    /// Notes that the client has gone, or is being closed for another reason.
    mutating func ended() { self.state = .closing }
}
