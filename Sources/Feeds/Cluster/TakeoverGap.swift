import Market
import Wire

/// Up to when nothing is missing on an edge's tape, and the gap of a takeover.
///
/// The gap ends with the new ingest's first trade. If none follows at once, it ends when all feeds of the ingest have a
/// connection. Those that the new ingest names before, one for each of its feeds, take its place.
struct TakeoverGap {
    /// Up to when nothing is missing: arrivals at the ingest. An open gap begins at its ``TapeCompleteness/proven``.
    var complete: TapeCompleteness
    private(set) var isOpen = false
    /// The newest takeover: when the new ingest began, `nil` before its first frame; what the edge's tape had then; and
    /// the symbols whose gaps before that the edge has named.
    private var newest: (began: Int64?, complete: TapeCompleteness, named: Set<String>)?
    /// When all feeds of the new ingest first had a connection, while the gap is open.
    private var connectedSince: Int64?
    /// Whether a trade would have come since, or the ingest's own gap.
    private var isSettled = false
    /// Whether the gap ended with a trade before all feeds had a connection.
    private(set) var isEarly = false

    init(complete: TapeCompleteness) { self.complete = complete }

    /// Another ingest has taken over, perhaps before the one before was live.
    ///
    /// - Parameter named: the symbols of ``TapeCompleteness/takeOutageGaps(of:to:_:)``.
    mutating func begin(named: Set<String>) {
        self.newest = (nil, self.complete, named)
        self.isOpen = true
        (self.connectedSince, self.isSettled, self.isEarly) = (nil, false, false)
        self.complete.changed(to: nil, at: self.complete.proven)
    }

    /// Takes the time of a frame, before its content.
    mutating func received(_ time: Int64) {
        if let newest, newest.began == nil { self.newest?.began = time }
    }

    /// Takes the phase of the ingest's feeds, the worst one of several.
    mutating func changed(to phase: FeedStatus.Phase, at arrival: Int64) {
        self.complete.changed(to: phase, at: arrival)
        guard phase.isConnected else {
            (self.connectedSince, self.isSettled) = (nil, false)
            return
        }
        self.isEarly = false
        guard self.isOpen else { return }
        self.connectedSince = self.connectedSince ?? arrival
        if phase != .waiting { self.isSettled = true }
    }

    /// Returns where the gap ends if no trade has come by a heartbeat; `nil` if it is not known yet.
    ///
    /// - Parameter hasSymbols: whether the ingest subscribes to any symbol. A feed without one waits for ever.
    func due(hasSymbols: Bool) -> Int64? { self.isSettled || !hasSymbols ? self.connectedSince : nil }

    /// Ends the gap.
    ///
    /// - Parameter isEarly: whether some feeds of the ingest may have no connection yet.
    mutating func end(isEarly: Bool = false) {
        (self.isOpen, self.connectedSince, self.isSettled, self.isEarly) = (false, nil, false, isEarly)
    }

    /// Takes a gap that the ingest has named. If it is the one of the newest takeover, it takes this one's place, and
    /// begins here: this edge may have had less of the tape.
    mutating func take(_ gap: inout Gap) {
        // A later one is the ingest's own. Ids of missing trades say nothing of the other symbols.
        if gap.cause == .replaced, gap.missing == nil, let newest, let began = newest.began, gap.from < began {
            self.end()
            let isNamed = gap.symbol.map(newest.named.contains) ?? false
            gap.from = isNamed ? newest.complete.proven : min(gap.from, newest.complete.proven)
        }
        // The open one begins earlier.
        if !self.isOpen { self.complete.gapFound(gap) }
    }

    /// Whether the new ingest has filled a trade which the tape may have had before.
    func mayRepeat(_ trade: StreamTrade) -> Bool {
        guard trade.isFilled, let id = trade.id, let had = self.newest?.complete.newest(of: trade.symbol) else {
            return false
        }
        // The venue may have begun its ids anew.
        return id <= had.id && trade.exchangeTime <= had.time
    }

    /// Notes that nothing is missing up to a message of the ingest, unless the gap is open.
    mutating func passed(_ time: Int64) { if !self.isOpen { self.complete.passed(time) } }
}
