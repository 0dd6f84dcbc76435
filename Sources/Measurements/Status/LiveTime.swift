package import Market

/// The share of a span of time in which a feed was live, and the gaps between, over restarts.
///
/// A pure value; times in ns since 1970.
package struct LiveTime: Sendable, Equatable {
    /// A period in which the feed was not live.
    package struct Gap: Sendable, Equatable {
        package var from: Int64
        package var to: Int64
        /// The first cause, in one line.
        package var reason: String

        package init(from: Int64, to: Int64, reason: String) {
            self.from = from
            self.to = to
            self.reason = reason
        }

        package var length: Int64 { self.to - self.from }
    }

    /// The reason of a gap in which no program ran.
    package static let notRunning = "not running"
    /// The reason of a gap within a run of which nothing was written.
    package static let asleep = "this machine slept, or its clock was set"
    /// The longest time between two periods of one run that is no gap, ns: what is lost between two writes.
    private static let seam: Int64 = 1_000_000

    package let from: Int64
    package let to: Int64
    /// From when on something is known, at least ``from``; `nil` if nothing is.
    package let known: Int64?
    /// The gaps since ``known``, the oldest first.
    package let gaps: [Gap]

    /// - Parameter known: from when on the gaps are known; `nil` for never.
    package init(from: Int64, to: Int64, known: Int64?, gaps: [Gap]) {
        self.from = from
        self.to = max(from, to)
        self.known = known.flatMap { $0 < max(from, to) ? max($0, from) : nil }
        self.gaps = gaps
    }

    /// Finds the gaps between the periods.
    ///
    /// - Parameters:
    ///   - first: when the oldest known period of all begins; `nil` if there is none.
    ///   - periods: those that touch the span, in any order; they may overlap, as after a clock was set back.
    package init(from: Int64, to: Int64, first: Int64?, periods: [FeedPeriod]) {
        let to = max(from, to)
        guard let first, first < to else {
            self.init(from: from, to: to, known: nil, gaps: [])
            return
        }
        let known = max(first, from)
        let sorted = periods.filter { $0.ended > $0.begun }.sorted { ($0.begun, $0.ended) < ($1.begun, $1.ended) }
        var gaps: [Gap] = []
        var live = known
        for period in sorted where period.isLive && period.ended > live && period.begun < to {
            if period.begun > live + Self.seam {
                gaps.append(Gap(from: live, to: period.begun, reason: Self.reason(at: live, sorted)))
            }
            live = max(live, period.ended)
        }
        if live < to - Self.seam { gaps.append(Gap(from: live, to: to, reason: Self.reason(at: live, sorted))) }
        self.init(from: from, to: to, known: known, gaps: gaps)
    }

    /// Returns why the feed is not live from a time on.
    private static func reason(at time: Int64, _ periods: [FeedPeriod]) -> String {
        let here = periods.first { !$0.isLive && $0.begun <= time + Self.seam && $0.ended > time }
        if let here { return here.reason.map { "\(here.state): \($0)" } ?? here.state }
        let before = periods.last { $0.ended <= time + Self.seam }
        let after = periods.first { $0.begun > time }
        return before != nil && before?.run == after?.run ? Self.asleep : Self.notRunning
    }

    /// The length of the known part, ns.
    package var span: Int64 { self.known.map { self.to - $0 } ?? 0 }

    /// The length of all gaps, ns.
    package var missed: Int64 { self.gaps.reduce(0) { $0 + $1.length } }

    /// The live part of the known time, 0 to 1; `nil` if nothing is known.
    package var share: Double? {
        self.span > 0 ? Double(self.span - min(self.missed, self.span)) / Double(self.span) : nil
    }

    package var longest: Gap? { self.gaps.max { ($0.length, $1.from) < ($1.length, $0.from) } }

    /// Returns the live part of a piece of the span, 0 to 1; `nil` if nothing is known of the piece.
    package func share(from: Int64, to: Int64) -> Double? {
        guard let known else { return nil }
        let (from, to) = (max(from, known), min(to, self.to))
        guard from < to else { return nil }
        let missed = self.gaps.reduce(Int64(0)) { $0 + max(0, min($1.to, to) - max($1.from, from)) }
        return Double(to - from - missed) / Double(to - from)
    }
}
