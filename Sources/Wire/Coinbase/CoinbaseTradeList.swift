package import Market
package import NIOCore

/// Lists of trades in the form of Coinbase Exchange's REST service (docs.cdp.coinbase.com, api-reference/exchange-api,
/// get-product-trades): the newest first.
package enum CoinbaseTradeList {
    /// The decimals of prices and sizes; a number with more keeps all of them.
    private static let decimals = 8

    /// Reads a list; `false` if there is none, or its JSON is broken.
    static func read(_ reader: inout JSONReader, into list: inout TradeList, symbols: inout SymbolTable) -> Bool {
        list.read(&reader, of: .object, symbols: &symbols) { reader, fields in
            reader.object { key, reader in
                if key.equals("trade_id") { return reader.take(unsigned: &fields.id) }
                if key.equals("price") { return reader.take(quoted: &fields.price) }
                if key.equals("size") { return reader.take(quoted: &fields.size) }
                guard key.equals("time") else { return reader.skipValue() }
                var time: JSONString?
                guard reader.take(string: &time) else { return false }
                fields.time = time?.withUnescaped { VenueTime.nanoseconds($0) }
                return true
            }
        }
    }

    /// Creates a list of trades.
    ///
    /// A tape does not keep the side, so it is always `sell`.
    ///
    /// - Parameter trades: in the order of their ids; the list is in the opposite order.
    package static func encode(_ trades: some BidirectionalCollection<Trade>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(2 + 144 * trades.count)
        buffer.writeStaticString("[")
        var isFirst = true
        for trade in trades.reversed() {
            buffer.writeStaticString(isFirst ? "{\"trade_id\":" : ",{\"trade_id\":")
            isFirst = false
            JSONText.write(trade.id ?? 0, into: &buffer)
            buffer.writeStaticString(",\"side\":\"sell\",\"size\":\"")
            VenueDigits.write(trade.size, decimals: Self.decimals, into: &buffer)
            buffer.writeStaticString("\",\"price\":\"")
            VenueDigits.write(trade.price, decimals: Self.decimals, into: &buffer)
            buffer.writeStaticString("\",\"time\":\"")
            buffer.writeString(VenueDigits.timestamp(trade.exchangeTime))
            buffer.writeStaticString("\"}")
        }
        buffer.writeStaticString("]")
        return buffer
    }
}
