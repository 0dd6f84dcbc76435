/// The count of a recording's stops: trades behind a gap, or behind five seconds without one.
///
/// That is what `next-gap` goes to. The count stands in the file every so often, so that the next stop is found by halving
/// (docs/recording-format.md). It may count one too many, where the disk did not take what was counted, and never one too
/// few: then a gap is told in its place.
package struct GapMarkers: Sendable, Equatable {
    /// How long there must be no trade, ns.
    package static let silence: Int64 = 5_000_000_000
    /// After how much of a file's text the count stands in it, bytes.
    package static let interval = 256 << 10

    /// Those of the file so far.
    package private(set) var count: UInt64
    /// The newest trade's time, ns since the file's start; before it where that was in an earlier file.
    package private(set) var lastTrade: Int64?
    /// Whether a gap stands behind the newest trade.
    private var isOpen = false

    package init(count: UInt64 = 0, lastTrade: Int64? = nil) {
        self.count = count
        self.lastTrade = lastTrade
    }

    /// Takes a gap that concerns all symbols, or missing frames.
    package mutating func gapped() { self.isOpen = true }

    /// Takes a message with trades.
    package mutating func traded(at: Int64) {
        if self.isOpen || Self.isSilence(from: self.lastTrade, to: at) { self.count += 1 }
        self.isOpen = false
        self.lastTrade = at
    }

    /// Whether nothing was traded for long enough between two trades.
    package static func isSilence(from last: Int64?, to at: Int64) -> Bool {
        guard let last else { return false }
        let (since, isOut) = at.subtractingReportingOverflow(last)
        return isOut ? at > last : since >= Self.silence
    }

    /// Notes that the next file begins, so much later than the one before it, ns.
    package mutating func beganFile(later: Int64) {
        self.count = 0
        self.lastTrade = self.lastTrade.flatMap { last in
            let (moved, isOut) = last.subtractingReportingOverflow(later)
            return isOut ? nil : moved
        }
    }
}
