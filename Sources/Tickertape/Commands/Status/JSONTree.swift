import NIOCore
import Wire

/// A JSON value, for the answers of a relay to this program's own commands.
enum JSONTree: Sendable, Equatable {
    case object([String: JSONTree])
    case array([JSONTree])
    case text(String)
    case number(Double)
    case bool(Bool)
    case null

    /// The deepest nesting that is read.
    private static let maximumDepth = 16

    /// Reads a text that is one JSON value; `nil` for anything else.
    init?(_ body: ByteBuffer) {
        let value = body.withUnsafeReadableBytes { bytes -> JSONTree? in
            var reader = JSONReader(bytes)
            guard let value = JSONTree(&reader, depth: 0), reader.isAtEnd() else { return nil }
            return value
        }
        guard let value else { return nil }
        self = value
    }

    private init?(_ reader: inout JSONReader, depth: Int) {
        guard depth < Self.maximumDepth else { return nil }
        switch reader.kind() {
        case .object:
            var members: [String: JSONTree] = [:]
            let isWhole = reader.object { key, reader in
                guard let value = JSONTree(&reader, depth: depth + 1) else { return false }
                members[key.text] = value
                return true
            }
            guard isWhole else { return nil }
            self = .object(members)
        case .array:
            var values: [JSONTree] = []
            guard reader.take(UInt8(ascii: "[")) else { return nil }
            if !reader.take(UInt8(ascii: "]")) {
                repeat {
                    guard let value = JSONTree(&reader, depth: depth + 1) else { return nil }
                    values.append(value)
                } while reader.take(UInt8(ascii: ","))
                guard reader.take(UInt8(ascii: "]")) else { return nil }
            }
            self = .array(values)
        case .string:
            guard let string = reader.string() else { return nil }
            self = .text(string.text)
        case .number:
            guard let raw = reader.rawValue(), let number = Double(String(decoding: raw, as: UTF8.self)) else {
                return nil
            }
            self = .number(number)
        case .literal:
            switch reader.literal() {
            case UInt8(ascii: "t"): self = .bool(true)
            case UInt8(ascii: "f"): self = .bool(false)
            case UInt8(ascii: "n"): self = .null
            default: return nil
            }
        case .invalid: return nil
        }
    }

    /// Returns a member of an object; `nil` if it is missing or null.
    subscript(_ key: String) -> JSONTree? {
        guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
        return value
    }

    var members: [String: JSONTree] { if case .object(let members) = self { members } else { [:] } }

    var elements: [JSONTree] { if case .array(let values) = self { values } else { [] } }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// The number as a whole one; `nil` for anything else.
    var integer: Int64? { self.number.flatMap { Int64(exactly: $0.rounded()) } }
}
