import NIOCore

/// What becomes of a lossless client that does not keep up; time and waiting bytes are arguments.
///
/// Live, it may have `limit` bytes or `messageLimit` messages waiting, and may take nothing for `patience`; beyond that it
/// is behind: nothing more is queued for it, and what it misses is counted. By its own choice it is then closed with that
/// count, as soon as it has read what was queued, or after `patience`; or it goes on with the newest once it has read, and
/// is told the count. In a replay the feed is asked to wait for it instead, and only one that reads nothing for `patience`
/// is given up.
struct Backlog: Equatable {
    /// What a client that is behind has chosen.
    enum Overflow: Equatable {
        /// To be closed with the count of what it missed.
        case close
        /// To be told the count, and to go on with what is newest then.
        case latest
    }

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

    /// Whether what waits becomes less.
    private struct Progress: Equatable {
        /// The bytes that wait if none have left since the last look.
        var expected: Int
        /// When some were last seen to have left.
        var since: NIODeadline

        /// Returns for how long none have left.
        mutating func looked(waiting: Int, now: NIODeadline) -> TimeAmount {
            if waiting < self.expected { self.since = now }
            self.expected = waiting
            return now - self.since
        }
    }

    private enum State: Equatable {
        case keepingUp
        /// Some of what was written waits, which alone is no fault.
        case waiting(Progress)
        /// In a replay: more waits than should.
        case slow(Progress)
        /// Nothing more is queued for it.
        case behind(missed: UInt64, since: NIODeadline)
        case closing
    }

    /// One write that waits.
    private struct Write: Equatable {
        var bytes: Int
        var messages: Int
    }

    private let limit: Int
    private let messageLimit: Int
    private let patience: TimeAmount
    private let feedWaits: Bool
    private let overflow: Overflow
    private var state: State = .keepingUp
    /// The writes of which some may wait, the oldest first; as many as there are messages at most.
    private var writes: [Write] = []
    private var writtenBytes = 0
    private var writtenMessages = 0
    /// The newest write when nothing waited: if something waits from then on, it is of this one.
    private var last = Write(bytes: 0, messages: 0)
    private var skipped: UInt64 = 0

    /// - Parameters:
    ///   - limit: most bytes that wait for the client.
    ///   - messageLimit: most messages that wait for it.
    ///   - feedWaits: whether the feed can be asked to wait for it.
    init(
        limit: Int,
        messageLimit: Int = .max,
        patience: TimeAmount,
        feedWaits: Bool,
        overflow: Overflow = .close
    ) {
        self.limit = limit
        self.messageLimit = messageLimit
        self.patience = patience
        self.feedWaits = feedWaits
        self.overflow = overflow
    }

    /// Whether the feed is to wait for it.
    var holdsUpFeed: Bool { if case .slow = self.state { true } else { false } }

    /// Whether `timePassed` wants to be called now and then.
    var isWatched: Bool {
        switch self.state {
        case .waiting, .slow, .behind: true
        case .keepingUp, .closing: false
        }
    }

    // MARK: What is written

    /// Trades are there for the client.
    ///
    /// - Parameters:
    ///   - messages: the messages in the bytes.
    ///   - waiting: the bytes that wait for it in this program.
    ///   - now: read only when something changes; a clock for each delivery would be felt.
    mutating func offered(
        trades: UInt64,
        messages: Int = 1,
        bytes: Int,
        waiting: Int,
        now: @autoclosure () -> NIODeadline
    ) -> Offer {
        switch self.state {
        case .keepingUp, .waiting, .slow:
            // A single message larger than the limit still goes to a client that has nothing waiting.
            guard waiting > 0 else {
                if self.writtenMessages > 0 { self.forgetWrites() }
                self.last = Write(bytes: bytes, messages: messages)
                return .write
            }
            self.settle(waiting: waiting)
            guard waiting + bytes <= self.limit, self.writtenMessages + messages <= self.messageLimit else {
                self.forgetWrites()
                self.state = .behind(missed: trades, since: now())
                return .leaveOut
            }
            self.note(Write(bytes: bytes, messages: messages))
            if case .waiting(var progress) = self.state {
                progress.expected += bytes
                self.state = .waiting(progress)
            }
            return .write
        case .behind(let missed, let since):
            self.state = .behind(missed: missed + trades, since: since)
            return .leaveOut
        case .closing:
            return .leaveOut
        }
    }

    /// Forgets the writes that have left wholly.
    private mutating func settle(waiting: Int) {
        if self.writes.isEmpty, self.last.messages > 0 {
            self.note(self.last)
            self.last = Write(bytes: 0, messages: 0)
        }
        var gone = 0
        while gone < self.writes.count, self.writtenBytes - self.writes[gone].bytes >= waiting {
            self.writtenBytes -= self.writes[gone].bytes
            self.writtenMessages -= self.writes[gone].messages
            gone += 1
        }
        if gone > 0 { self.writes.removeFirst(gone) }
    }

    private mutating func note(_ write: Write) {
        self.writes.append(write)
        self.writtenBytes += write.bytes
        self.writtenMessages += write.messages
    }

    private mutating func forgetWrites() {
        self.writes = []
        self.writtenBytes = 0
        self.writtenMessages = 0
    }

    /// Trades were lost before they could be offered.
    mutating func lost(trades: UInt64) -> Verdict {
        switch (self.state, self.overflow) {
        case (.closing, _):
            return .keep
        case (.behind(let missed, let since), _):
            self.state = .behind(missed: missed + trades, since: since)
            return .keep
        case (_, .close):
            self.state = .closing
            return .close(missed: trades)
        case (_, .latest):
            self.skipped += trades
            return .keep
        }
    }

    /// Returns how many trades were left out before what is offered next, and not told yet.
    mutating func takeSkipped() -> UInt64 {
        defer { self.skipped = 0 }
        return self.skipped
    }

    // MARK: What waits

    /// Some of what was written could not leave at once.
    mutating func leftWaiting(_ waiting: Int, now: NIODeadline) {
        switch self.state {
        case .keepingUp:
            if !self.feedWaits { self.state = .waiting(Progress(expected: waiting, since: now)) }
        case .waiting, .slow, .behind, .closing:
            break
        }
    }

    /// What waits has passed the channel's high mark.
    mutating func becameUnwritable(waiting: Int, now: NIODeadline) {
        switch self.state {
        case .keepingUp:
            let progress = Progress(expected: waiting, since: now)
            self.state = self.feedWaits ? .slow(progress) : .waiting(progress)
        case .waiting, .slow, .behind, .closing:
            break
        }
    }

    /// What waits has sunk below the channel's low mark.
    mutating func becameWritable() -> Verdict {
        switch self.state {
        case .keepingUp, .waiting, .closing:
            return .keep
        case .slow:
            self.state = .keepingUp
            return .keep
        case .behind(let missed, _):
            return self.caughtUp(missed: missed)
        }
    }

    private mutating func caughtUp(missed: UInt64) -> Verdict {
        switch self.overflow {
        case .close:
            self.state = .closing
            return .close(missed: missed)
        case .latest:
            self.state = .keepingUp
            self.skipped += missed
            return .keep
        }
    }

    /// Time has passed.
    mutating func timePassed(waiting: Int, now: NIODeadline) -> Verdict {
        switch self.state {
        case .keepingUp, .closing:
            return .keep
        case .waiting(var progress):
            guard waiting > 0 else {
                self.forgetWrites()
                self.state = .keepingUp
                return .keep
            }
            let time = progress.looked(waiting: waiting, now: now)
            self.state = .waiting(progress)
            return time < self.patience ? .keep : self.stalled(now: now)
        case .slow(var progress):
            let time = progress.looked(waiting: waiting, now: now)
            self.state = .slow(progress)
            return time < self.patience ? .keep : self.stalled(now: now)
        case .behind(let missed, let since):
            if waiting == 0 { return self.caughtUp(missed: missed) }
            guard self.overflow == .close, now - since >= self.patience else { return .keep }
            self.state = .closing
            return .close(missed: missed)
        }
    }

    /// Nothing has left for too long.
    private mutating func stalled(now: NIODeadline) -> Verdict {
        switch self.overflow {
        case .close:
            self.state = .closing
            return .close(missed: 0)
        case .latest:
            self.forgetWrites()
            self.state = .behind(missed: 0, since: now)
            return .keep
        }
    }

    /// It is being closed for another reason, or has left.
    mutating func ended() { self.state = .closing }
}
