import Market
import Recordings
import Wire

/// The sequence of a recording's items to play: messages, pings and pongs, gaps, and breaks of connections.
struct ReplayReading {
    enum Next {
        case message(RecordedFrame)
        case signal(RecordedSignal)
        /// Trades may be missing at this place.
        case gap(at: Int64, RecordedGap)
        /// All trades of a gap had come, or the rest was lost.
        case settled(at: Int64, GapOutcome)
        /// Connections end, with a close frame if the service sent one.
        case breakBegins(at: Int64, RecordedClosing?)
        case breakEnds(at: Int64)

        /// The time of the item, ns since the recording's start.
        var at: Int64 {
            switch self {
            case .message(let frame): frame.at
            case .signal(let signal): signal.at
            case .gap(let at, _), .settled(let at, _), .breakBegins(let at, _), .breakEnds(let at): at
            }
        }
    }

    /// The tolerance between the two clocks when a gap is matched with the end of a connection, ns.
    private static let clockDifference: Int64 = 1_000_000_000

    /// The most gaps and outcomes in a silence that is skipped; further ones of such a file are left out.
    private static let maximumWaitingGaps = 1_000

    /// The valid times of a gap, ns since 1970: up to the µs that every JSON reader holds exactly.
    private static let gapTimes: ClosedRange<Int64> = 0...(1 << 53) * 1_000

    private let bounds: ClosedRange<Int64>
    /// The wall clock at the recording's start, ns since 1970.
    private let start: Int64
    /// Whether the end of what is played is that of the recording.
    private let hasEnd: Bool
    private let hasBreaks: Bool
    private let hasSignals: Bool
    /// Gaps and outcomes that are played with the next message.
    private var waitingGaps: [Next] = []
    private var cursor: ReplayCursor
    private var upcoming: [Next] = []
    private var repeats = RecordedRepeats()
    /// Whether the next item must be the message that a move was for, without a ping before it.
    private var isLanding = false
    /// Whether the service has closed the connection and no other is open yet.
    private var isClosed = false
    /// The service's end of a connection whose gap has not been read yet.
    private var unreportedClosing: RecordedClosing?

    init(_ cursor: ReplayCursor, bounds: ClosedRange<Int64>, start: Int64, settings: ReplaySettings) {
        self.cursor = cursor
        self.bounds = bounds
        self.start = start
        self.hasEnd = settings.to == nil
        self.hasBreaks = settings.hasBreaks
        // Silences without messages are skipped; pings would interrupt them.
        self.hasSignals = settings.machine.longestSilence == nil
    }

    /// The place of the next message.
    var place: ReplayCursor.Place {
        let isRead = self.upcoming.contains { if case .message = $0 { true } else { false } }
        return isRead ? self.cursor.place : self.cursor.following
    }

    /// Continues with another cursor.
    mutating func goOn(with cursor: ReplayCursor) {
        self.cursor = cursor
        self.upcoming = []
        self.isClosed = false
        self.unreportedClosing = nil
        self.waitingGaps = []
        self.repeats.reset()
    }

    /// Marks the trades of a frame that may be repeats.
    ///
    /// - Returns: the numbers of the trades; `nil` where they have none, or the numbers do not match the text.
    mutating func mark(_ trades: inout [Trade], of frame: RecordedFrame) -> RecordedNumbers? {
        self.repeats.mark(&trades, of: frame)
    }

    /// Continues at a message elsewhere, without the items before it.
    mutating func land(_ cursor: ReplayCursor) {
        self.goOn(with: cursor)
        self.isLanding = true
    }

    /// Returns the next item; `nil` at the end.
    mutating func peek() throws(RecordingFailure) -> Next? {
        if let next = self.upcoming.first { return next }
        while let item = try self.cursor.nextItem() {
            if !self.hasEnd, let at = Self.time(of: item), at > self.bounds.upperBound { break }
            self.take(item)
            if let next = self.upcoming.first { return next }
        }
        self.sendWaitingGaps(at: self.bounds.upperBound)
        return self.upcoming.first
    }

    /// Notes that the next item was played.
    mutating func take() { self.upcoming.removeFirst() }

    /// Returns the time of an item; `nil` for a gap, which is recorded after the time it covers.
    private static func time(of item: ReplayCursor.Item) -> Int64? {
        switch item {
        case .frame(let frame): frame.at
        case .signal(let signal): signal.at
        case .closing(let closing): closing.at
        case .connected(let at), .settled(let at, _): at
        case .gap: nil
        }
    }

    private mutating func take(_ item: ReplayCursor.Item) {
        switch item {
        case .frame(let frame):
            self.isLanding = false
            self.sendWaitingGaps(at: frame.at)
            // An exchange with a REST service needs no connection.
            if frame.dialect.answering == nil { self.endClosing(at: frame.at) }
            self.upcoming.append(.message(frame))
        case .signal(let signal):
            guard self.hasSignals, !self.isLanding, self.bounds.contains(signal.at) else { return }
            self.upcoming.append(.signal(signal))
        case .closing(let closing):
            guard self.hasBreaks, !self.isLanding, self.bounds.contains(closing.at) else { return }
            self.upcoming.append(.breakBegins(at: closing.at, closing))
            self.isClosed = true
            self.unreportedClosing = closing
        case .connected(let at): if at <= self.bounds.upperBound { self.endClosing(at: at) }
        case .gap(let gap): self.take(Self.sound(gap))
        case .settled(let at, var outcome):
            (outcome.from, outcome.to) = Self.sound(outcome.from, outcome.to)
            self.add(.settled(at: self.played(at), outcome))
        }
    }

    private mutating func take(_ gap: RecordedGap) {
        if !self.hasBreaks || gap.gap.symbol != nil {
            self.add(.gap(at: self.played(gap.at), gap))
        } else {
            let begin = min(gap.gap.from.subtractingCapped(self.start), gap.at)
            guard begin <= self.bounds.upperBound else { return }
            self.endClosing(at: gap.at)
            if let closing = self.unreportedClosing.take(), self.isPlayed(gap, beginning: begin, with: closing) {
                return
            }
            let end = min(max(gap.gap.to.subtractingCapped(self.start), begin), gap.at)
            self.upcoming.append(.breakBegins(at: begin, nil))
            self.upcoming.append(.breakEnds(at: end))
        }
    }

    /// Returns when a gap or an outcome is played. Those behind the recording's last message are played with it.
    private func played(_ at: Int64) -> Int64 { self.hasEnd ? min(at, self.bounds.upperBound) : at }

    /// Adds a gap or an outcome at its place. Where silences are skipped, it must not interrupt one.
    private mutating func add(_ next: Next) {
        guard !self.isLanding, self.bounds.contains(next.at) else { return }
        if self.hasSignals {
            self.upcoming.append(next)
        } else if self.waitingGaps.count < Self.maximumWaitingGaps {
            self.waitingGaps.append(next)
        }
    }

    /// Returns the gap with its times clamped to a range that allows arithmetic.
    private static func sound(_ gap: RecordedGap) -> RecordedGap {
        var gap = gap
        (gap.gap.from, gap.gap.to) = Self.sound(gap.gap.from, gap.gap.to)
        return gap
    }

    private static func sound(_ from: Int64, _ to: Int64) -> (from: Int64, to: Int64) {
        let from = min(max(from, Self.gapTimes.lowerBound), Self.gapTimes.upperBound)
        return (from, min(max(to, from), Self.gapTimes.upperBound))
    }

    /// Returns whether a gap belongs to an end that has been played.
    ///
    /// The wall clock decides if both have it, because the monotonic clock stands still while the machine sleeps.
    private func isPlayed(_ gap: RecordedGap, beginning begin: Int64, with closing: RecordedClosing) -> Bool {
        guard let wall = closing.wall else { return begin <= closing.at.addingCapped(Self.clockDifference) }
        return gap.gap.from / 1_000 <= wall.addingCapped(Self.clockDifference / 1_000)
    }

    private mutating func sendWaitingGaps(at: Int64) {
        for waiting in self.waitingGaps {
            switch waiting {
            case .gap(_, let gap): self.upcoming.append(.gap(at: at, gap))
            case .settled(_, let outcome): self.upcoming.append(.settled(at: at, outcome))
            case .message, .signal, .breakBegins, .breakEnds: self.upcoming.append(waiting)
            }
        }
        self.waitingGaps = []
    }

    private mutating func endClosing(at: Int64) {
        guard self.isClosed else { return }
        self.isClosed = false
        self.upcoming.append(.breakEnds(at: at))
    }
}
