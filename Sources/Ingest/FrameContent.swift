/// The content of one text frame, as the reader of its dialect found it.
package enum FrameContent: Sendable, Equatable {
    /// Trades; `skipped` elements beside them were malformed or could not be held.
    case trades(skipped: Int)
    /// A well-formed message without trades.
    case other
    /// Not a message of the dialect.
    case malformed
}
