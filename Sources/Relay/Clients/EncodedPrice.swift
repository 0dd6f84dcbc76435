import Market
import NIOCore

/// A price for the sessions that follow its symbol; what several sessions share is encoded once.
struct EncodedPrice {
    let update: PriceUpdate
    /// The number of the shown trade among the symbol's trades, counted from 1.
    let ordinal: UInt64
    /// Whole frames: `snapshotFrame` for sessions that had no price before, `priceFrame` for sessions that have missed
    /// exactly ``PriceUpdate/skipped`` trades.
    var snapshotFrame: ByteBuffer?
    var priceFrame: ByteBuffer?

    init(_ update: PriceUpdate, ordinal: UInt64) {
        self.update = update
        self.ordinal = ordinal
    }
}
