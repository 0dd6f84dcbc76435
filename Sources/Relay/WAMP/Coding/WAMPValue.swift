import NIOCore

/// A value of WAMP's data model, as all serialisations have it.
///
/// Numbers keep their form: an integer is never converted to a floating-point number, and a JSON number that is no
/// integer stays text.
enum WAMPValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`.
    case large(UInt64)
    /// A JSON number that is no 64-bit integer, in its own digits.
    case decimal(String)
    /// A floating-point number of MessagePack or CBOR.
    case double(Double)
    case text(String)
    case bytes(ByteBuffer)
    case list([WAMPValue])
    case dictionary(WAMPDictionary)
    /// An object or a list that this program has written as JSON. Decoders never return it.
    case json(ByteBuffer)

    /// The largest number of containers within each other.
    static let maximumDepth = 32
    /// The most elements for which a decoder reserves memory at once: a message's count may be a lie.
    static let reserved = 256

    /// Makes a value of an identifier or a count.
    static func number(_ number: UInt64) -> WAMPValue {
        number <= UInt64(Int64.max) ? .integer(Int64(number)) : .large(number)
    }

    // MARK: What a protocol message expects

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// The value as an identifier (WAMP, 2.1.2); `nil` if it cannot be one.
    var id: UInt64? {
        guard case .integer(let integer) = self, WAMPIDs.range.contains(UInt64(max(integer, 0))) else { return nil }
        return UInt64(integer)
    }

    var list: [WAMPValue]? {
        if case .list(let list) = self { list } else { nil }
    }

    var dictionary: WAMPDictionary? {
        if case .dictionary(let dictionary) = self { dictionary } else { nil }
    }
}
