package import Market
package import NIOCore

/// Lists of trades in the form of Binance's REST service, `historicalTrades` and `trades` (binance-spot-api-docs,
/// rest-api.md): the oldest first.
package enum BinanceTradeList {
    /// Reads a list; `false` if there is none, or its JSON is broken.
    static func read(_ reader: inout JSONReader, into list: inout TradeList, symbols: inout SymbolTable) -> Bool {
        list.read(&reader, of: .object, symbols: &symbols) { reader, fields in
            reader.object { key, reader in
                if key.equals("id") { return reader.take(unsigned: &fields.id) }
                if key.equals("price") { return reader.take(quoted: &fields.price) }
                if key.equals("qty") { return reader.take(quoted: &fields.size) }
                guard key.equals("time") else { return reader.skipValue() }
                var time: Int64?
                guard reader.take(integer: &time) else { return false }
                fields.time = time.flatMap(VenueTime.nanoseconds)
                return true
            }
        }
    }

    /// Creates a list of trades, which are in the order of their ids.
    ///
    /// Times are in ms, and in µs where a trade's time has more digits. A tape does not keep the maker's side, so
    /// `isBuyerMaker` is always `true`.
    package static func encode(_ trades: some Collection<Trade>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(2 + 176 * trades.count)
        buffer.writeStaticString("[")
        var isFirst = true
        for trade in trades {
            buffer.writeStaticString(isFirst ? "{\"id\":" : ",{\"id\":")
            isFirst = false
            JSONText.write(trade.id ?? 0, into: &buffer)
            buffer.writeStaticString(",\"price\":\"")
            VenueDigits.write(trade.price, decimals: BinanceEncoder.decimals, into: &buffer)
            buffer.writeStaticString("\",\"qty\":\"")
            VenueDigits.write(trade.size, decimals: BinanceEncoder.decimals, into: &buffer)
            buffer.writeStaticString("\",\"quoteQty\":\"")
            var value = ExactSum()
            value.add(trade.price, times: trade.size)
            JSONText.write(value, into: &buffer)
            buffer.writeStaticString("\",\"time\":")
            let isWhole = trade.exchangeTime % 1_000_000 == 0
            JSONText.write(trade.exchangeTime / (isWhole ? 1_000_000 : 1_000), into: &buffer)
            buffer.writeStaticString(",\"isBuyerMaker\":true,\"isBestMatch\":true}")
        }
        buffer.writeStaticString("]")
        return buffer
    }
}
