import Market
import Wire

/// Up to when nothing is missing on an edge's tape, and the gap of a takeover.
///
/// The gap ends with the new ingest's first trade, or with its first `live` if no trade follows at once. One that the
/// new ingest names before takes its place.
struct TakeoverGap {
    /// Up to when nothing is missing: arrivals at the ingest.
    var complete: TapeCompleteness
    /// The beginning of the gap; `nil` without one.
    private var start: Int64?
    /// When the new ingest's first `live` came.
    private(set) var liveSince: Int64?
    /// The beginning of the gaps that the new ingest names itself, one for each of its feeds: by its clock, and on this
    /// tape.
    private var named: (theirs: Int64, from: Int64)?

    init(complete: TapeCompleteness) { self.complete = complete }

    /// Another ingest has taken over, perhaps before the one before was live.
    mutating func begin() {
        self.start = self.start ?? self.complete.proven
        self.complete.changed(to: nil)
        self.liveSince = nil
    }

    /// Takes the phase of the ingest's feed.
    mutating func changed(to phase: FeedStatus.Phase, at arrival: Int64) {
        self.complete.changed(to: phase)
        if phase == .live, self.start != nil { self.liveSince = arrival }
    }

    /// Ends the gap; returns its beginning, or `nil` without one.
    mutating func end() -> Int64? {
        defer { (self.start, self.liveSince) = (nil, nil) }
        return self.start
    }

    /// Takes a gap of a takeover that the ingest has named. This edge may have had less of the tape.
    ///
    /// - Parameter theirs: its beginning by the ingest's clock.
    /// - Returns: its beginning on this tape.
    mutating func named(_ gap: Gap, theirs: Int64) -> Int64 {
        if let start = self.end() { self.named = (theirs, start) }
        guard let named, named.theirs == theirs else { return gap.from }
        return min(gap.from, named.from)
    }

    /// Takes a message of the ingest, or a trade. Before the gap of a takeover has ended they prove nothing.
    mutating func passed(_ time: Int64) { if self.start == nil { self.complete.passed(time) } }
    mutating func read(_ batch: TapeBatch, at time: Int64) {
        if self.start == nil { self.complete.read(batch, at: time) }
    }
}
