import Market
import NIOCore
import Wire

/// The trades of some batches as one message each. Each trade is encoded once for all clients with the same form.
struct TradeMessages {
    /// The messages for one set of symbols.
    struct Content {
        /// Whole frames or lines.
        var bytes: ByteBuffer
        /// The number of trades, one per message.
        var trades: UInt64
        /// The sequence numbers of the first and the last trade.
        var sequences: ClosedRange<UInt64>
    }

    private struct Line {
        var symbol: SymbolID
        var sequence: UInt64
        /// The end of its message in ``bytes``.
        var end: Int
    }

    /// The symbols that any reader wants.
    private let union: SymbolSet
    private var bytes = ByteBuffer()
    private var lines: [Line] = []
    private var made: [SymbolSet: Content] = [:]

    /// - Parameters:
    ///   - union: the symbols that any reader wants.
    ///   - encode: writes a trade as a whole frame or line.
    init(
        _ batches: ArraySlice<TapeBatch>,
        union: SymbolSet,
        encode: (_ trade: Trade, _ sequence: UInt64, _ batch: TapeBatch, _ out: inout ByteBuffer) -> Void
    ) {
        self.union = union
        let count = batches.reduce(0) { $0 + $1.trades.count }
        self.lines.reserveCapacity(count)
        self.bytes.reserveCapacity(count * 192)
        for batch in batches {
            var sequence = batch.firstSequence
            for trade in batch.trades {
                defer { sequence += 1 }
                guard union.contains(trade.symbol) else { continue }
                encode(trade, sequence, batch, &self.bytes)
                self.lines.append(Line(symbol: trade.symbol, sequence: sequence, end: self.bytes.writerIndex))
            }
        }
    }

    /// Returns the messages for a set of symbols, a subset of the union that the batches contain.
    mutating func content(_ wanted: SymbolSet) -> Content? {
        if let known = self.made[wanted] { return known }
        guard let content = wanted == self.union ? self.whole : self.part(wanted) else { return nil }
        self.made[wanted] = content
        return content
    }

    private var whole: Content? {
        guard let first = self.lines.first, let last = self.lines.last else { return nil }
        return Content(
            bytes: self.bytes,
            trades: UInt64(self.lines.count),
            sequences: first.sequence...last.sequence
        )
    }

    private func part(_ wanted: SymbolSet) -> Content? {
        var out = ByteBuffer()
        var trades: UInt64 = 0
        var first: UInt64?
        var last: UInt64 = 0
        var start = 0
        for line in self.lines {
            if wanted.contains(line.symbol) {
                if let view = self.bytes.viewBytes(at: start, length: line.end - start) { out.writeBytes(view) }
                trades += 1
                first = first ?? line.sequence
                last = line.sequence
            }
            start = line.end
        }
        guard let first else { return nil }
        return Content(bytes: out, trades: trades, sequences: first...last)
    }
}
