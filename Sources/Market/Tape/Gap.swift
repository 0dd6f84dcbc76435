/// A stretch of time in which trades may have happened that the tape does not hold.
package struct Gap: Sendable, Equatable {
    /// When the last frame before it arrived and when the feed was whole again; wall clock, ns since 1970.
    package var from: Int64
    package var to: Int64
    /// Why, in one line; never holds a key.
    package var reason: String
    /// The number of the first trade after it.
    package var nextSequence: UInt64

    package init(from: Int64, to: Int64, reason: String, nextSequence: UInt64) {
        self.from = from
        self.to = to
        self.reason = reason
        self.nextSequence = nextSequence
    }
}
