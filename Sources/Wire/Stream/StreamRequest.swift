package import NIOCore

/// What a client asks of `/v1/stream`.
package enum StreamRequest: Sendable, Equatable {
    /// The symbols a request is about.
    package enum Symbols: Sendable, Equatable {
        /// All that the feed has and will have: the request names none.
        case all
        case named([String])
    }

    case subscribe(Symbols)
    case unsubscribe(Symbols)
    /// A request of another type.
    case other(String)

    /// Most symbols of one request; a longer list is no request.
    package static let maximumSymbols = 4_096

    /// Reads `{"type":"subscribe","symbol":"…"}`, or `"symbols":["…",…]`, or neither for all symbols; `nil` when the text
    /// is no such object or has no type.
    package static func parse(_ text: ByteBuffer) -> StreamRequest? {
        text.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            var type: String?
            var names: [String]?
            guard reader.take(UInt8(ascii: "{")) else { return nil }
            var isFirst = true
            members: while true {
                switch reader.nextMember(isFirst: &isFirst) {
                case .end: break members
                case .invalid: return nil
                case .key(let key) where key.equals("type"):
                    guard let value = reader.string() else { return nil }
                    type = value.text
                case .key(let key) where key.equals("symbol"):
                    guard let value = reader.string() else { return nil }
                    names = (names ?? []) + [value.text]
                case .key(let key) where key.equals("symbols"):
                    guard let list = reader.strings(atMost: Self.maximumSymbols) else { return nil }
                    names = (names ?? []) + list
                case .key:
                    guard reader.skipValue() else { return nil }
                }
            }
            guard reader.isAtEnd() else { return nil }
            let symbols = names.map(Symbols.named) ?? .all
            switch type {
            case "subscribe": return .subscribe(symbols)
            case "unsubscribe": return .unsubscribe(symbols)
            case .some(let type): return .other(type)
            case nil: return nil
            }
        }
    }

    /// The request as JSON text.
    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        let (type, symbols): (String, Symbols) =
            switch self {
            case .subscribe(let symbols): ("subscribe", symbols)
            case .unsubscribe(let symbols): ("unsubscribe", symbols)
            case .other(let type): (type, .all)
            }
        buffer.writeStaticString("{\"type\":")
        JSONText.escape(type, into: &buffer)
        if case .named(let names) = symbols {
            buffer.writeStaticString(",\"symbols\":[")
            for (index, name) in names.enumerated() {
                if index > 0 { buffer.writeStaticString(",") }
                JSONText.escape(name, into: &buffer)
            }
            buffer.writeStaticString("]")
        }
        buffer.writeStaticString("}")
        return buffer
    }
}
