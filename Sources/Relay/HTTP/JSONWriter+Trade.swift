import Market
import Wire

extension JSONWriter {
    /// Writes a trade with its number; times as in `/v1/stream`.
    ///
    /// - Parameters:
    ///   - epoch: the trade's epoch, if the list has trades of several.
    ///   - received: the arrival by our wall clock, ns since 1970.
    mutating func trade(_ trade: Trade, epoch: UInt64? = nil, sequence: UInt64, received: Int64) {
        self.element { out in
            if let epoch {
                out.field("epoch", epoch)
            }
            out.field("seq", sequence)
            out.field("price", trade.price)
            out.field("size", trade.size)
            out.field("time", trade.exchangeTime / 1_000_000)
            out.field("received", received / 1_000)
            out.details(of: trade)
        }
    }
}
