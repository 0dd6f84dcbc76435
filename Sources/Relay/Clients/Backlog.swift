import NIOCore

/// What becomes of a client that does not keep up with every trade; time and what waits are arguments.
///
/// Live, it may have so many bytes and messages waiting; beyond that, or when it reads nothing for `patience`, it is
/// behind: nothing more is queued for it, and what it misses is counted. As soon as it has read what was queued it is
/// closed with that count, or, if it has chosen so, goes on. In a replay the feed is asked to wait for it instead, and
/// only one that reads nothing for `patience` is given up.
struct Backlog: Equatable {
    /// What to do with the bytes just offered.
    enum Offer: Equatable {
        case write
        case leaveOut
    }

    /// What is to be done with the client.
    enum Verdict: Equatable {
        case keep
        /// It is to be closed, having missed so many trades.
        case close(missed: UInt64)
        /// It has caught up, having missed so many trades, and gets what comes now.
        case goOn(missed: UInt64)
    }

    private enum State: Equatable {
        case keepingUp
        /// More waits than should; `drained` bytes had left when that was last seen to change.
        case slow(drained: Int, since: NIODeadline)
        /// Nothing more is queued for it.
        case behind(missed: UInt64, since: NIODeadline)
        case closing
    }

    private var limit: Int
    private var messageLimit: Int
    private let patience: TimeAmount
    /// Whether the feed can be asked to wait for the client.
    var feedWaits: Bool
    /// Whether a client that was behind is closed; else it goes on.
    var closes: Bool
    private var state: State = .keepingUp

    /// - Parameters:
    ///   - limit: most bytes that wait for the client.
    ///   - messageLimit: most messages that wait for the client.
    ///   - feedWaits: whether the feed can be asked to wait for it.
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

    /// Notes that the feed can be asked to wait from now on, or not any more, and what may wait for the client then.
    mutating func change(feedWaits: Bool, limit: Int, messageLimit: Int, closes: Bool) {
        self.feedWaits = feedWaits
        self.limit = limit
        self.messageLimit = messageLimit
        self.closes = closes
    }

    /// Whether the feed is to wait for it.
    var holdsUpFeed: Bool {
        if case .slow = self.state { self.feedWaits } else { false }
    }

    /// Whether nothing more is queued for it.
    var isBehind: Bool {
        switch self.state {
        case .behind, .closing: true
        case .keepingUp, .slow: false
        }
    }

    /// The trades that it has missed and not been told of.
    var missed: UInt64 {
        if case .behind(let missed, _) = self.state { missed } else { 0 }
    }

    /// Whether `timePassed` wants to be called now and then.
    var isWatched: Bool {
        switch self.state {
        case .slow, .behind: true
        case .keepingUp, .closing: false
        }
    }

    /// Trades are there for the client.
    ///
    /// - Parameters:
    ///   - waiting: the bytes that wait for it, or 0 as long as it is not watched and they are below the channel's high mark.
    ///   - waitingMessages: the messages that wait for it; asked for only where bytes do.
    ///   - now: read only when something changes; a clock for each delivery would be felt.
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
            // A replay's feed stops when asked to; what is under way then may be many small messages.
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

    /// Some of what was written could not leave at once, which alone is no fault: but it has to leave in time.
    ///
    /// - Parameter drained: all bytes that have left so far.
    mutating func leftWaiting(drained: Int, now: NIODeadline) {
        // A replay waits for whoever lets much wait; the patience with the others is the keepalive's.
        if !self.feedWaits { self.becameUnwritable(drained: drained, now: now) }
    }

    /// What waits has passed the channel's high mark.
    ///
    /// - Parameter drained: all bytes that have left so far.
    mutating func becameUnwritable(drained: Int, now: NIODeadline) {
        switch self.state {
        case .keepingUp: self.state = .slow(drained: drained, since: now)
        case .slow, .behind, .closing: break
        }
    }

    /// What waits has sunk below the channel's low mark.
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

    /// What was missed so far has been told; the client stays behind.
    mutating func reported() {
        if case .behind(_, let since) = self.state { self.state = .behind(missed: 0, since: since) }
    }

    /// Time has passed.
    ///
    /// - Parameters:
    ///   - drained: all bytes that have left so far.
    ///   - waiting: the bytes that wait for it.
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

    /// It is being closed for another reason, or has left.
    mutating func ended() { self.state = .closing }
}
