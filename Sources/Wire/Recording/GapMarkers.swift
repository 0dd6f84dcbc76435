/// The count of a recording's stops: trades after a gap, or after five seconds without a trade.
///
/// `next-gap` goes to stops. Marks in the file repeat the count, so that a binary search finds the next stop
/// (docs/recording-format.md). The count may be one too high, where a counted trade was not written, and is never too
/// low: where lines are lost, a gap takes their place.
package struct GapMarkers: Sendable, Equatable {
    /// The shortest silence before a stop, ns.
    package static let silence: Int64 = 5_000_000_000
    /// The distance of marks in a file's text, bytes.
    package static let interval = 256 << 10

    /// The stops of the file so far.
    package private(set) var count: UInt64
    /// The newest trade's time, ns since the file's start; negative where the trade is in an earlier file.
    package private(set) var lastTrade: Int64?
    /// Whether a gap follows the newest trade.
    private var isOpen = false

    package init(count: UInt64 = 0, lastTrade: Int64? = nil) {
        self.count = count
        self.lastTrade = lastTrade
    }

    /// Takes a gap of all symbols, or missing frames.
    package mutating func gapped() { self.isOpen = true }

    /// Takes a message with trades.
    package mutating func traded(at: Int64) {
        if self.isOpen || Self.isSilence(from: self.lastTrade, to: at) { self.count += 1 }
        self.isOpen = false
        self.lastTrade = at
    }

    /// Whether the time between two trades is long enough for a stop.
    package static func isSilence(from last: Int64?, to at: Int64) -> Bool {
        guard let last else { return false }
        let (since, isOut) = at.subtractingReportingOverflow(last)
        return isOut ? at > last : since >= Self.silence
    }

    /// Records the beginning of the next file; `later` is the time between the two files' starts, ns.
    package mutating func beganFile(later: Int64) {
        self.count = 0
        self.lastTrade = self.lastTrade.flatMap { last in
            let (moved, isOut) = last.subtractingReportingOverflow(later)
            return isOut ? nil : moved
        }
    }
}
