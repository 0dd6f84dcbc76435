import NIOCore
import WebSocket
import Wire

extension TradeMessages {
    /// Encodes trades as `trade` messages of `/v1/stream`. A trade's message has the same number (`n`) for all clients,
    /// so that its bytes are the same, too.
    ///
    /// - Parameters:
    ///   - union: the symbols that any reader wants.
    ///   - number: returns the number of the next message.
    init(
        forStream batches: ArraySlice<TapeBatch>,
        union: SymbolSet,
        texts: inout SymbolTexts,
        number: () -> UInt64
    ) {
        var scratch = ByteBuffer()
        scratch.reserveCapacity(256)
        self.init(batches, union: union) { trade, sequence, batch, out in
            scratch.clear()
            StreamEncoder.trade(
                trade,
                symbol: texts.text(of: trade.symbol, in: batch.symbols),
                sequence: sequence,
                received: batch.received,
                number: number(),
                into: &scratch
            )
            WebSocketFraming.serverText(scratch.readableBytesView, into: &out)
        }
    }
}
