import NIOCore
import Wire

/// The decoder of WAMP's JSON messages (WAMP, 2.2.1).
enum WAMPJSONDecoder {
    /// Returns the value of a text that is exactly one value.
    ///
    /// - Parameter readsBytes: whether a text that begins with NUL holds bytes, as it does in a client's message. In
    ///   JSON of the feed it is a text as any other.
    static func decode(_ message: ByteBuffer, readsBytes: Bool = true) throws(WAMPCodingFault) -> WAMPValue {
        let result = message.withUnsafeReadableBytes { bytes in
            Result<WAMPValue, WAMPCodingFault> { () throws(WAMPCodingFault) in
                var reader = JSONReader(bytes)
                let value = try Self.value(&reader, depth: 0, readsBytes)
                guard reader.isAtEnd() else { throw .trailingBytes }
                return value
            }
        }
        return try result.get()
    }

    private static func value(
        _ reader: inout JSONReader,
        depth: Int,
        _ readsBytes: Bool
    ) throws(WAMPCodingFault) -> WAMPValue {
        switch reader.kind() {
        case .string:
            guard let string = reader.string() else { throw .malformed }
            return try readsBytes ? Self.text(string.text) : .text(string.text)
        case .number:
            return try Self.number(&reader)
        case .literal:
            switch reader.literal() {
            case UInt8(ascii: "t"): return .bool(true)
            case UInt8(ascii: "f"): return .bool(false)
            case UInt8(ascii: "n"): return .null
            case _: throw .malformed
            }
        case .array:
            guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
            return try Self.list(&reader, depth: depth + 1, readsBytes)
        case .object:
            guard depth < WAMPValue.maximumDepth else { throw .tooDeep }
            return try Self.dictionary(&reader, depth: depth + 1, readsBytes)
        case .invalid:
            throw .malformed
        }
    }

    /// A text that begins with NUL holds bytes.
    private static func text(_ text: String) throws(WAMPCodingFault) -> WAMPValue {
        guard text.utf8.first == 0 else { return .text(text) }
        guard let bytes = Base64.decode(text.utf8.dropFirst()) else { throw .malformed }
        return .bytes(bytes)
    }

    private static func number(_ reader: inout JSONReader) throws(WAMPCodingFault) -> WAMPValue {
        guard let raw = reader.rawValue() else { throw .malformed }
        let text = String(decoding: raw, as: UTF8.self)
        // An integer has no negative zero.
        if text == "-0" { return .decimal(text) }
        if let integer = Int64(text) { return .integer(integer) }
        return UInt64(text).map { .large($0) } ?? .decimal(text)
    }

    private static func list(
        _ reader: inout JSONReader,
        depth: Int,
        _ readsBytes: Bool
    ) throws(WAMPCodingFault) -> WAMPValue {
        guard reader.take(UInt8(ascii: "[")) else { throw .malformed }
        if reader.take(UInt8(ascii: "]")) { return .list([]) }
        var values: [WAMPValue] = []
        repeat {
            values.append(try Self.value(&reader, depth: depth, readsBytes))
        } while reader.take(UInt8(ascii: ","))
        guard reader.take(UInt8(ascii: "]")) else { throw .malformed }
        return .list(values)
    }

    private static func dictionary(
        _ reader: inout JSONReader,
        depth: Int,
        _ readsBytes: Bool
    ) throws(WAMPCodingFault) -> WAMPValue {
        guard reader.take(UInt8(ascii: "{")) else { throw .malformed }
        var entries: [WAMPDictionary.Entry] = []
        var isFirst = true
        while true {
            switch reader.nextMember(isFirst: &isFirst) {
            case .key(let key):
                let text = key.text
                let value = try Self.value(&reader, depth: depth, readsBytes)
                entries.append(WAMPDictionary.Entry(key: text, value: value))
            case .end: return .dictionary(WAMPDictionary(entries))
            case .invalid: throw .malformed
            }
        }
    }
}
