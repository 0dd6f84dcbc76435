import Market
import Wire

/// The interruptions of one feed, and the comparison of the trades after each with those before it. In a feed whose
/// trades have ids, an interruption is only the reason of the holes among them.
///
/// A state machine; times are arguments.
struct Interruptions {
    /// How long trades are compared after the first one that follows an interruption, ns.
    private static let overlapTime: Int64 = 60_000_000_000

    private let comparesContent: Bool
    /// Whether the trades have ids, which prove what is missing.
    let hasIDs: Bool
    /// Empty without ids.
    var identified = IdentifiedTrades()
    private let isLive: Bool
    private var gaps = GapTracker()
    private var sleep = SleepDetector()
    private var tails = RecentTrades()
    private var overlap: OverlapCheck?
    /// When the comparison ends; monotonic ns.
    private var overlapEnd: Int64?
    private var isOverlapPublished = false

    init(repeats: RepeatHandling, isLive: Bool) {
        self.comparesContent = repeats.comparesContent
        self.hasIDs = repeats == .identified
        self.isLive = isLive
    }

    /// Whether trades are missing for which no gap has been published yet.
    var isOpen: Bool { self.gaps.isOpen }

    /// Notes that an attempt to connect began.
    mutating func attempted() {
        self.gaps.attempted()
        self.identified.attempted()
    }

    /// Notes that a connection opened and that the feed subscribes to its symbols on it.
    mutating func connectionOpened(_ now: Moment) {
        self.gaps.asked(now)
        self.identified.connectionOpened()
        self.sleep = SleepDetector()
        _ = self.sleep.looked(now)
    }

    /// Begins a gap. The trades after it are compared with the last trades before it.
    ///
    /// - Parameter isResumable: whether ``resumed(isComplete:)`` may follow.
    mutating func interrupted(from: Int64, reason: String, cause: FeedStatus.Cause?, isResumable: Bool = false) {
        if self.hasIDs { return self.identified.interrupted(from: from, reason: reason, cause: cause) }
        self.gaps.interrupted(from: from, reason: reason, cause: cause, isResumable: isResumable)
        guard self.comparesContent else { return }
        self.overlap = OverlapCheck(self.tails)
        self.overlapEnd = nil
        self.isOverlapPublished = false
    }

    /// Begins a gap, whether the trades have ids or not: another program has put the trades before it onto the tape.
    mutating func tookOver(_ complete: TapeCompleteness, _ symbols: [String], reason: String) {
        let from = complete.proven(of: symbols)
        self.gaps.interrupted(from: from, reason: reason, cause: .replaced)
        guard self.hasIDs else { return }
        for symbol in symbols {
            guard let newest = complete.newest(of: symbol) else { continue }
            self.identified.continued(symbol, after: newest)
        }
        self.identified.interrupted(from: from, reason: reason, cause: .replaced)
    }

    /// Notes whether the feed gets everything that it missed: then there is no gap, and the next trades are new.
    mutating func resumed(isComplete: Bool) {
        guard self.gaps.resumed(isComplete: isComplete) else { return }
        self.overlap = nil
        self.overlapEnd = nil
    }

    /// Notes that everything has come that the feed missed.
    mutating func caughtUp() { self.gaps.caughtUp() }

    /// Begins a gap without a comparison: silent symbols may have traded unseen.
    mutating func silenceEnded(from: Int64, reason: String, cause: FeedStatus.Cause?) {
        // The ids of the next trades show whether any are missing.
        if self.hasIDs { return }
        self.gaps.interrupted(from: from, reason: reason, cause: cause)
    }

    /// Begins a gap if the computer has slept. The feed received nothing meanwhile, although its connection may still
    /// be open.
    ///
    /// - Parameter previousFrame: when the last frame came; wall clock, ns since 1970.
    mutating func lookForSleep(since previousFrame: Int64, _ now: Moment) {
        guard let slept = self.sleep.looked(now), self.isLive else { return }
        self.interrupted(
            from: previousFrame,
            reason: "this machine slept, or its clock was set, \(slept / 1_000_000_000) s ahead",
            cause: .sleep
        )
        self.gaps.asked(now)
    }

    // MARK: Trades

    /// Compares the trades of a read with those from before an interruption. Returns `nil` if there is nothing to
    /// compare with, or if all trades are new.
    mutating func findings(in trades: [Trade], now: Int64) -> [OverlapCheck.Finding]? {
        guard self.overlap != nil, !trades.isEmpty else { return nil }
        let end = self.overlapEnd ?? now + Self.overlapTime
        self.overlapEnd = end
        guard now < end else {
            self.overlap = nil
            return nil
        }
        return self.overlap?.check(trades)
    }

    /// Judges the trades of a read by their ids; returns the gaps that show.
    mutating func identify(_ read: inout PendingRead, _ now: Moment, symbols: SymbolTable) -> [FoundGap] {
        read.identify(&self.identified, now, symbols: symbols)
    }

    /// Takes trades that do not repeat any from before the gap. Returns the gap that ends.
    ///
    /// - Parameter received: the arrival of the trades; wall clock, ns since 1970.
    mutating func traded(received: Int64, nextSequence: UInt64, epoch: UInt64) -> Gap? {
        self.withOverlap(self.gaps.traded(received: received, nextSequence: nextSequence, epoch: epoch))
    }

    /// Takes the trades of a read in the order of the tape.
    mutating func append(_ trades: [Trade], symbolCount: Int) {
        if self.comparesContent { self.tails.append(trades, symbolCount: symbolCount) }
    }

    /// Notes that the numbers of symbols mean other symbols from now on.
    mutating func epochBegan() {
        self.tails = RecentTrades()
        self.overlap = nil
        self.overlapEnd = nil
        self.identified.epochBegan()
    }

    // MARK: Time

    /// When ``deadlineReached(now:patience:nextSequence:epoch:)`` is due; monotonic ns.
    func deadline(patience: Int64) -> Int64? { self.gaps.deadline(patience: patience) }

    /// Takes the passing of time; returns the gap that no trade ended.
    mutating func deadlineReached(now: Int64, patience: Int64, nextSequence: UInt64, epoch: UInt64) -> Gap? {
        self.withOverlap(
            self.gaps.deadlineReached(now: now, patience: patience, nextSequence: nextSequence, epoch: epoch)
        )
    }

    /// Adds the number of likely repeats among the compared trades, unless an earlier gap of the same interruption has
    /// it.
    private mutating func withOverlap(_ gap: Gap?) -> Gap? {
        guard var gap else { return nil }
        if !self.isOverlapPublished, let overlap, overlap.compared > 0 {
            (gap.overlap, gap.overlapBounds) = (overlap.likely, overlap.bounds)
        }
        self.isOverlapPublished = true
        return gap
    }
}
