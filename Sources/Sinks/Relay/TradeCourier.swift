import Market
import NIOCore
import WebSocket
import Wire

/// The packing of trades for readers of Finnhub's own protocol: frames of the upstream byte for byte where every trade in
/// them is wanted, and encoded anew, exactly, where only some are.
enum TradeCourier {
    /// The symbols of the batches' trades.
    static func symbols(in batches: ArraySlice<TapeBatch>) -> SymbolSet {
        var set = SymbolSet()
        var last: SymbolID?
        for batch in batches {
            for trade in batch.trades where trade.symbol != last {
                set.insert(trade.symbol)
                last = trade.symbol
            }
        }
        return set
    }

    /// Returns WebSocket frames with the wanted trades, and how many these are.
    ///
    /// - Parameter isAll: whether `wanted` holds all symbols of the batches.
    static func encode(
        _ batches: ArraySlice<TapeBatch>,
        wanted: SymbolSet,
        isAll: Bool
    ) -> (bytes: ByteBuffer, trades: UInt64) {
        var out = ByteBuffer()
        out.reserveCapacity(batches.reduce(0) { $0 + $1.frames.reduce(0) { $0 + $1.bytes.readableBytes + 4 } })
        var scratch = ByteBuffer()
        var count = 0
        for batch in batches {
            for frame in batch.frames where !frame.trades.isEmpty {
                let trades = batch.trades[frame.trades]
                if frame.isWhole, isAll || trades.allSatisfy({ wanted.contains($0.symbol) }) {
                    WebSocketFraming.serverText(frame.bytes, into: &out)
                    count += trades.count
                    continue
                }
                let chosen = trades.filter { wanted.contains($0.symbol) }
                guard !chosen.isEmpty else { continue }
                scratch.clear()
                FinnhubEncoder.trade(chosen, symbols: batch.symbols, into: &scratch)
                WebSocketFraming.serverText(scratch, into: &out)
                count += chosen.count
            }
        }
        return (out, UInt64(count))
    }
}
