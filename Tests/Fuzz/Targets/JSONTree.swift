/// A JSON text (RFC 8259) as a tree: the reference for the program's own reader, written for clearness alone.
///
/// Numbers keep their text, so that no digit is lost. Of equal keys all are kept.
enum JSONTree: Equatable {
    indirect case object([Member])
    indirect case array([JSONTree])
    /// Without escapes; a lone surrogate is U+FFFD.
    case string(String)
    case number(String)
    case literal(String)

    struct Member: Equatable {
        var key: String
        var value: JSONTree
    }

    /// Reads a text that is one value; `nil` for any other, for bytes that are not UTF-8, and for more than 200 arrays and
    /// objects around each other.
    init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var parser = Parser(rest: Array(text.unicodeScalars)[...])
        guard let value = parser.value(), parser.isAtEnd() else { return nil }
        self = value
    }

    /// How deep arrays and objects are nested.
    var depth: Int {
        switch self {
        case .object(let members): 1 + (members.map(\.value.depth).max() ?? 0)
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .string, .number, .literal: 0
        }
    }

    /// The last member with a key; `nil` without one, and for what is no object.
    subscript(_ key: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key.unicodeScalars.elementsEqual(key.unicodeScalars) }?.value
    }
}

private struct Parser {
    private static let maximumDepth = 200

    var rest: ArraySlice<Unicode.Scalar>
    private var depth = 0

    init(rest: ArraySlice<Unicode.Scalar>) { self.rest = rest }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard self.rest.first == scalar else { return false }
        self.rest.removeFirst()
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        guard self.rest.starts(with: word.unicodeScalars) else { return false }
        self.rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func skipSpace() {
        while let first = self.rest.first, [" ", "\t", "\n", "\r"].contains(first) { self.rest.removeFirst() }
    }

    mutating func isAtEnd() -> Bool {
        self.skipSpace()
        return self.rest.isEmpty
    }

    mutating func value() -> JSONTree? {
        self.skipSpace()
        guard self.depth < Self.maximumDepth else { return nil }
        self.depth += 1
        defer { self.depth -= 1 }
        switch self.rest.first {
        case "{": return self.object()
        case "[": return self.array()
        case "\"": return self.string().map { .string($0) }
        case "t": return self.take("true") ? .literal("true") : nil
        case "f": return self.take("false") ? .literal("false") : nil
        case "n": return self.take("null") ? .literal("null") : nil
        default: return self.number().map { .number($0) }
        }
    }

    private mutating func object() -> JSONTree? {
        guard self.take("{" as Unicode.Scalar) else { return nil }
        var members: [JSONTree.Member] = []
        self.skipSpace()
        if self.take("}" as Unicode.Scalar) { return .object(members) }
        repeat {
            self.skipSpace()
            guard let key = self.string() else { return nil }
            self.skipSpace()
            guard self.take(":" as Unicode.Scalar), let value = self.value() else { return nil }
            members.append(JSONTree.Member(key: key, value: value))
            self.skipSpace()
        } while self.take("," as Unicode.Scalar)
        return self.take("}" as Unicode.Scalar) ? .object(members) : nil
    }

    private mutating func array() -> JSONTree? {
        guard self.take("[" as Unicode.Scalar) else { return nil }
        var elements: [JSONTree] = []
        self.skipSpace()
        if self.take("]" as Unicode.Scalar) { return .array(elements) }
        repeat {
            guard let value = self.value() else { return nil }
            elements.append(value)
            self.skipSpace()
        } while self.take("," as Unicode.Scalar)
        return self.take("]" as Unicode.Scalar) ? .array(elements) : nil
    }

    private mutating func string() -> String? {
        guard self.take("\"" as Unicode.Scalar) else { return nil }
        var units: [UInt16] = []
        while let scalar = self.rest.popFirst() {
            switch scalar {
            case "\"": return String(decoding: units, as: UTF16.self)
            case "\\":
                guard let unit = self.escape() else { return nil }
                units.append(unit)
            case _ where scalar.value < 0x20: return nil
            default: units += UTF16.encode(scalar).map { Array($0) } ?? []
            }
        }
        return nil
    }

    private mutating func escape() -> UInt16? {
        switch self.rest.popFirst() {
        case "\"": return 0x22
        case "\\": return 0x5C
        case "/": return 0x2F
        case "b": return 0x08
        case "f": return 0x0C
        case "n": return 0x0A
        case "r": return 0x0D
        case "t": return 0x09
        case "u":
            let digits = self.rest.prefix(4)
            guard digits.count == 4, digits.allSatisfy({ $0.isASCII && $0.properties.isASCIIHexDigit }) else {
                return nil
            }
            self.rest.removeFirst(4)
            return UInt16(String(String.UnicodeScalarView(digits)), radix: 16)
        default: return nil
        }
    }

    private mutating func digits() -> String? {
        let digits = self.rest.prefix { ("0"..."9").contains($0) }
        self.rest.removeFirst(digits.count)
        return digits.isEmpty ? nil : String(String.UnicodeScalarView(digits))
    }

    private mutating func number() -> String? {
        var text = self.take("-" as Unicode.Scalar) ? "-" : ""
        guard let whole = self.digits(), whole == "0" || !whole.hasPrefix("0") else { return nil }
        text += whole
        if self.take("." as Unicode.Scalar) {
            guard let fraction = self.digits() else { return nil }
            text += ".\(fraction)"
        }
        guard self.take("e" as Unicode.Scalar) || self.take("E" as Unicode.Scalar) else { return text }
        let sign = self.take("-" as Unicode.Scalar) ? "-" : self.take("+" as Unicode.Scalar) ? "" : ""
        guard let exponent = self.digits() else { return nil }
        return "\(text)e\(sign)\(exponent)"
    }
}
