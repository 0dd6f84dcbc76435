package import Market
package import NIOCore

/// The encoder of frames in exactly the form that Finnhub sends.
package enum FinnhubEncoder {
    /// Writes one trade message: keys `c`, `p`, `s`, `t`, `v`, and `type` last.
    ///
    /// Numbers have the digits in which they arrived, in the notation of Finnhub's own encoder; `t` is in milliseconds.
    /// The tape does not keep conditions, so `c` is always `null`, as it is for crypto. ``FinnhubCutter`` keeps them if
    /// the original frame is available.
    package static func trade(
        _ trades: some Sequence<Trade>,
        symbols: SymbolTable,
        into buffer: inout ByteBuffer
    ) {
        buffer.writeStaticString("{\"data\":[")
        var isFirst = true
        for trade in trades {
            if !isFirst { buffer.writeStaticString(",") }
            isFirst = false
            Self.element(
                price: trade.price,
                symbol: symbols.name(of: trade.symbol),
                exchangeTime: trade.exchangeTime,
                size: trade.size,
                into: &buffer
            )
        }
        buffer.writeStaticString("],\"type\":\"trade\"}")
    }

    /// Creates a trade message with a symbol's newest trade.
    package static func newest(_ summary: SymbolSummary) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStaticString("{\"data\":[")
        Self.element(
            price: summary.price,
            symbol: summary.symbol,
            exchangeTime: summary.exchangeTime,
            size: summary.size,
            into: &buffer
        )
        buffer.writeStaticString("],\"type\":\"trade\"}")
        return buffer
    }

    private static func element(
        price: ExactDecimal,
        symbol: String,
        exchangeTime: Int64,
        size: ExactDecimal,
        into buffer: inout ByteBuffer
    ) {
        buffer.writeStaticString("{\"c\":null,\"p\":")
        JSONText.write(price, style: .finnhub, into: &buffer)
        buffer.writeStaticString(",\"s\":")
        JSONText.escape(symbol, into: &buffer)
        buffer.writeStaticString(",\"t\":")
        JSONText.write(exchangeTime / 1_000_000, into: &buffer)
        buffer.writeStaticString(",\"v\":")
        JSONText.write(size, style: .finnhub, into: &buffer)
        buffer.writeStaticString("}")
    }

    /// Creates an error message: `{"msg":"…","type":"error"}`.
    package static func error(_ text: String) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStaticString("{\"msg\":")
        JSONText.escape(text, into: &buffer)
        buffer.writeStaticString(",\"type\":\"error\"}")
        return buffer
    }

    /// The replacement for a frame that must not be passed on: `{"type":"redacted"}`.
    package static let redacted = ByteBuffer(staticString: "{\"type\":\"redacted\"}")

    /// The heartbeat: `{"type":"ping"}`.
    package static let ping = ByteBuffer(staticString: "{\"type\":\"ping\"}")
}
