/// What the frames of one text hold, as the reader of their dialect found.
package enum FrameContent: Sendable, Equatable {
    /// Trades, of which so many elements were malformed or could not be held.
    case trades(skipped: Int)
    /// A well-formed message without trades.
    case other
    /// Not a message of the dialect.
    case malformed
}
