package import Market
package import NIOCore

/// The writer of frames in exactly the form that Finnhub sends.
package enum FinnhubEncoder {
    /// Writes one trade message: keys `c`, `p`, `s`, `t`, `v`, and `type` last.
    ///
    /// Numbers have the digits they came with, in the notation of Finnhub's own encoder; `t` is in milliseconds, as it
    /// came. Conditions (`c`) are not kept on the tape: `c` is always `null`, as it is for crypto.
    package static func trade(
        _ trades: some Sequence<Trade>,
        symbols: SymbolTable,
        into buffer: inout ByteBuffer
    ) {
        buffer.writeStaticString("{\"data\":[")
        var isFirst = true
        for trade in trades {
            buffer.writeStaticString(isFirst ? "{\"c\":null,\"p\":" : ",{\"c\":null,\"p\":")
            isFirst = false
            JSONText.write(trade.price, style: .finnhub, into: &buffer)
            buffer.writeStaticString(",\"s\":")
            JSONText.escape(symbols.name(of: trade.symbol), into: &buffer)
            buffer.writeStaticString(",\"t\":")
            JSONText.write(trade.exchangeTime / 1_000_000, into: &buffer)
            buffer.writeStaticString(",\"v\":")
            JSONText.write(trade.size, style: .finnhub, into: &buffer)
            buffer.writeStaticString("}")
        }
        buffer.writeStaticString("],\"type\":\"trade\"}")
    }

    /// Makes an error message: `{"msg":"…","type":"error"}`.
    package static func error(_ text: String) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStaticString("{\"msg\":")
        JSONText.escape(text, into: &buffer)
        buffer.writeStaticString(",\"type\":\"error\"}")
        return buffer
    }

    /// What stands in the place of a frame that must not be passed on: `{"type":"redacted"}`.
    package static let redacted = ByteBuffer(staticString: "{\"type\":\"redacted\"}")

    /// The heartbeat: `{"type":"ping"}`.
    package static let ping = ByteBuffer(staticString: "{\"type\":\"ping\"}")
}
