import Market
import Wire

/// Up to when nothing is missing on an edge's tape, and the gap of a takeover.
///
/// The gap ends with the new ingest's first trade, or with its first `live` if no trade follows at once. Those that the
/// new ingest names before, one for each of its feeds, take its place.
struct TakeoverGap {
    /// Up to when nothing is missing: arrivals at the ingest. An open gap begins at its ``TapeCompleteness/proven``.
    var complete: TapeCompleteness
    private(set) var isOpen = false
    /// The newest takeover: when the new ingest began, `nil` before its first frame, and where the edge's tape ended.
    private var newest: (began: Int64?, from: Int64)?
    /// When the new ingest's first `live` came, while the gap is open.
    private(set) var liveSince: Int64?
    /// Whether the gap ended with a trade of one feed before all feeds were live.
    private(set) var isEarly = false

    init(complete: TapeCompleteness) { self.complete = complete }

    /// Another ingest has taken over, perhaps before the one before was live.
    mutating func begin() {
        self.newest = (nil, self.complete.proven)
        self.isOpen = true
        (self.liveSince, self.isEarly) = (nil, false)
        self.complete.changed(to: nil, at: self.complete.proven)
    }

    /// Takes the time of a frame, before its content.
    mutating func received(_ time: Int64) {
        if let newest, newest.began == nil { self.newest?.began = time }
    }

    /// Takes the phase of the ingest's feed.
    mutating func changed(to phase: FeedStatus.Phase, at arrival: Int64) {
        self.complete.changed(to: phase, at: arrival)
        guard phase == .live else { return }
        if self.isOpen { self.liveSince = arrival }
        self.isEarly = false
    }

    /// Ends the gap.
    ///
    /// - Parameter isEarly: whether some feeds of the ingest may not be live yet.
    mutating func end(isEarly: Bool = false) {
        (self.isOpen, self.liveSince, self.isEarly) = (false, nil, isEarly)
    }

    /// Takes a gap that the ingest has named. If it is the one of the newest takeover, it takes this one's place, and
    /// begins here: this edge may have had less of the tape.
    mutating func take(_ gap: inout Gap) {
        // A later one is the ingest's own. Ids of missing trades say nothing of the other symbols.
        if gap.cause == .replaced, gap.missing == nil, let newest, let began = newest.began, gap.from < began {
            self.end()
            gap.from = min(gap.from, newest.from)
        }
        // The open one begins earlier.
        if !self.isOpen { self.complete.gapFound(gap) }
    }

    /// Notes that nothing is missing up to a message of the ingest, unless the gap is open.
    mutating func passed(_ time: Int64) { if !self.isOpen { self.complete.passed(time) } }
}
