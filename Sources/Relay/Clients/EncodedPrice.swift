import Market
import NIOCore

/// A price on its way to the sessions that follow its symbol: what several get alike is encoded once.
struct EncodedPrice {
    let update: PriceUpdate
    /// Which of the symbol's trades it shows, counted from 1.
    let ordinal: UInt64
    /// As whole frames: for sessions that had no price before, and for those that have missed as many trades as
    /// ``PriceUpdate/skipped`` says.
    var snapshotFrame: ByteBuffer?
    var priceFrame: ByteBuffer?

    init(_ update: PriceUpdate, ordinal: UInt64) {
        self.update = update
        self.ordinal = ordinal
    }
}
