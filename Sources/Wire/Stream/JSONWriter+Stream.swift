import Market
import NIOCore

/// The parts that several messages of `/v1/stream` share.
extension JSONWriter {
    /// Writes the price, the size, the times and the statistics of a symbol.
    mutating func summary(_ summary: SymbolSummary, skipped: UInt64?) {
        self.field("price", summary.price)
        self.field("size", summary.size)
        self.field("time", summary.exchangeTime / 1_000_000)
        self.field("received", summary.received / 1_000)
        self.field("seq", summary.sequence)
        if let skipped { self.field("skipped", skipped) }
        self.field("open", summary.open)
        self.field("high", summary.high)
        self.field("low", summary.low)
        self.field("volume", summary.volume)
        self.field("trades", summary.trades)
    }

    /// Writes the ids of missing trades: the first, the last and their number, strings of digits.
    package mutating func missing(_ ids: ClosedRange<UInt64>) { self.object("missing") { $0.ids(ids) } }

    /// Writes the first and the last of some ids and their number, strings of digits.
    package mutating func ids(_ ids: ClosedRange<UInt64>) {
        self.field("first", "\(ids.lowerBound)")
        self.field("last", "\(ids.upperBound)")
        self.field("count", "\(TradeID.count(ids))")
    }

    mutating func source(_ word: String, file: String?, speed: Double?) {
        self.field("source", word)
        self.field("file", file)
        // Swift describes every finite double as a JSON number.
        let number = speed.flatMap { $0.isFinite ? $0.description : nil } ?? "null"
        self.field("speed", json: ByteBuffer(string: number))
    }
}
