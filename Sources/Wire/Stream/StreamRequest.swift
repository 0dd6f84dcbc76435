package import NIOCore

/// What a client asks of `/v1/stream`: `{"type":"subscribe","symbol":"…"}`, `"symbols":["…",…]`, or neither for all.
package enum StreamRequest: Sendable, Equatable {
    /// Asks for the prices of these symbols; of all that the feed has where there are none.
    case subscribe([String])
    case unsubscribe([String])
    /// A request of another type.
    case other(String)

    /// The most symbols in one request; more make it invalid.
    package static let maximumSymbols = 4_096

    /// Reads a request; `nil` when the text is no JSON object, has no type, or names symbols that are no strings.
    package static func parse(_ text: ByteBuffer) -> StreamRequest? {
        text.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            var type: String?
            var symbols: [String] = []
            guard reader.take(UInt8(ascii: "{")) else { return nil }
            var isFirst = true
            members: while true {
                switch reader.nextMember(isFirst: &isFirst) {
                case .end: break members
                case .invalid: return nil
                case .key(let key):
                    if key.equals("type"), reader.kind() == .string {
                        type = reader.string()?.text
                    } else if key.equals("symbol") {
                        guard let symbol = reader.string() else { return nil }
                        symbols.append(symbol.text)
                    } else if key.equals("symbols") {
                        guard let names = reader.strings(atMost: Self.maximumSymbols) else { return nil }
                        symbols += names
                    } else {
                        guard reader.skipValue() else { return nil }
                    }
                }
            }
            guard reader.isAtEnd() else { return nil }
            switch type {
            case "subscribe": return .subscribe(symbols)
            case "unsubscribe": return .unsubscribe(symbols)
            case .some(let type): return .other(type)
            case nil: return nil
            }
        }
    }

    /// The request as text.
    package func encoded() -> ByteBuffer {
        let (type, symbols): (String, [String]) =
            switch self {
            case .subscribe(let symbols): ("subscribe", symbols)
            case .unsubscribe(let symbols): ("unsubscribe", symbols)
            case .other(let type): (type, [])
            }
        var buffer = ByteBuffer()
        buffer.writeStaticString("{\"type\":")
        JSONText.escape(type, into: &buffer)
        if !symbols.isEmpty {
            buffer.writeStaticString(",\"symbols\":[")
            for (index, symbol) in symbols.enumerated() {
                if index > 0 { buffer.writeStaticString(",") }
                JSONText.escape(symbol, into: &buffer)
            }
            buffer.writeStaticString("]")
        }
        buffer.writeStaticString("}")
        return buffer
    }
}
