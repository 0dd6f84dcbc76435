import Market
import Wire

extension JSONWriter {
    /// A trade with its number; times as in `/v1/stream`.
    ///
    /// - Parameters:
    ///   - epoch: the run of numbers, where the list has trades of several.
    ///   - received: our wall clock when it came, ns since 1970.
    mutating func trade(_ trade: Trade, epoch: UInt64? = nil, sequence: UInt64, received: Int64) {
        self.object { out in
            if let epoch {
                out.key("epoch")
                out.number(epoch)
            }
            out.key("seq")
            out.number(sequence)
            out.key("price")
            out.decimal(trade.price)
            out.key("size")
            out.decimal(trade.size)
            out.key("time")
            out.number(trade.exchangeTime / 1_000_000)
            out.key("received")
            out.number(received / 1_000)
            if trade.marks.contains(.ahead) {
                out.key("ahead")
                out.flag(true)
            }
            if trade.marks.contains(.possibleRepeat) {
                out.key("possibleRepeat")
                out.flag(true)
            }
        }
    }
}
