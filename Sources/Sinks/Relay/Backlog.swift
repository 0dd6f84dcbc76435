import NIOCore

/// What becomes of a lossless client that does not keep up; time and waiting bytes are arguments.
///
/// Live, it may have `limit` bytes waiting; then it is behind: nothing more is queued for it, what it misses is counted,
/// and it is closed with that count as soon as it has read what was queued, or after `patience`. In a replay the feed is
/// asked to wait for it instead, and only one that reads nothing for `patience` is given up.
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
    }

    private enum State: Equatable {
        case keepingUp
        /// In a replay: more waits than should.
        case slow(waiting: Int, since: NIODeadline)
        /// Nothing more is queued for it.
        case behind(missed: UInt64, since: NIODeadline)
        case closing
    }

    private let limit: Int
    private let patience: TimeAmount
    private let feedWaits: Bool
    private var state: State = .keepingUp

    /// - Parameters:
    ///   - limit: most bytes that wait for the client.
    ///   - feedWaits: whether the feed can be asked to wait for it.
    init(limit: Int, patience: TimeAmount, feedWaits: Bool) {
        self.limit = limit
        self.patience = patience
        self.feedWaits = feedWaits
    }

    /// Whether the feed is to wait for it.
    var holdsUpFeed: Bool { if case .slow = self.state { true } else { false } }

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
    ///   - waiting: the bytes that wait for it, or 0 as long as these are below the channel's high mark.
    ///   - now: read only when something changes; a clock for each delivery would be felt.
    mutating func offered(
        trades: UInt64,
        bytes: Int,
        waiting: Int,
        now: @autoclosure () -> NIODeadline
    ) -> Offer {
        switch self.state {
        case .keepingUp, .slow:
            // A single message larger than the limit still goes to a client that has nothing waiting.
            guard waiting > 0, waiting + bytes > self.limit else { return .write }
            self.state = .behind(missed: trades, since: now())
            return .leaveOut
        case .behind(let missed, let since):
            self.state = .behind(missed: missed + trades, since: since)
            return .leaveOut
        case .closing:
            return .leaveOut
        }
    }

    /// What waits has passed the channel's high mark.
    mutating func becameUnwritable(waiting: Int, now: NIODeadline) {
        switch self.state {
        case .keepingUp:
            if self.feedWaits { self.state = .slow(waiting: waiting, since: now) }
        case .slow, .behind, .closing:
            break
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
            self.state = .closing
            return .close(missed: missed)
        }
    }

    /// Time has passed.
    mutating func timePassed(waiting: Int, now: NIODeadline) -> Verdict {
        switch self.state {
        case .keepingUp, .closing:
            return .keep
        case .slow(let before, let since):
            if waiting < before {
                self.state = .slow(waiting: waiting, since: now)
            } else if now - since >= self.patience {
                self.state = .closing
                return .close(missed: 0)
            }
            return .keep
        case .behind(let missed, let since):
            guard now - since >= self.patience else { return .keep }
            self.state = .closing
            return .close(missed: missed)
        }
    }

    /// It is being closed for another reason, or has left.
    mutating func ended() { self.state = .closing }
}
