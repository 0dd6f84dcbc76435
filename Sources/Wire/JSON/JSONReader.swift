import CJSONText
package import Market

/// A reader of JSON text (RFC 8259) over bytes: no tree, no recursion, no floating point.
///
/// The caller walks the values that it needs and skips the others. Failing to read a number, a literal or a string
/// moves the reader to the end, so that nothing after a broken token is taken for JSON. It never reads outside of its
/// bytes, and nesting is bounded by ``maximumDepth``.
package struct JSONReader {
    /// The largest depth of a skipped value.
    package static let maximumDepth = 64

    /// The kind of a value, by its first byte.
    package enum Kind { case object, array, string, number, literal, invalid }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The current byte, or 0 at the end (no JSON token begins with a NUL).
    @inline(__always)
    private var here: UInt8 { self.position < self.bytes.count ? self.bytes[self.position] : 0 }

    private mutating func fail() { self.position = self.bytes.count }

    @inline(__always)
    private mutating func skipWhitespace() {
        // Any byte above a space belongs to a token.
        while self.here <= 0x20, self.position < self.bytes.count {
            switch self.bytes[self.position] {
            case 0x20, 0x09, 0x0A, 0x0D: self.position &+= 1
            default: return
            }
        }
    }

    /// Skips whitespace, and then consumes `byte` if it comes next.
    package mutating func take(_ byte: UInt8) -> Bool {
        self.skipWhitespace()
        guard self.here == byte, self.position < self.bytes.count else { return false }
        self.position += 1
        return true
    }

    /// Returns whether only whitespace is left.
    package mutating func isAtEnd() -> Bool {
        self.skipWhitespace()
        return self.position == self.bytes.count
    }

    /// Returns the kind of the next value, by its first byte.
    package mutating func kind() -> Kind {
        self.skipWhitespace()
        switch self.here {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return .literal
        default: return .invalid
        }
    }

    /// Reads a number. A number that cannot be held is consumed, too. Without a number the result is `invalid`.
    package mutating func number() -> ExactDecimal.Scan {
        self.skipWhitespace()
        let scan = ExactDecimal.scan(UnsafeRawBufferPointer(rebasing: self.bytes[self.position...]))
        switch scan {
        case .number(_, let length), .unheld(let length): self.position += length
        case .invalid: self.fail()
        }
        return scan
    }

    /// Reads a 64-bit integer; `nil` for another number, which is consumed, and for anything else.
    package mutating func integer() -> Int64? {
        self.skipWhitespace()
        let start = self.position
        switch self.number() {
        case .number(let number, _): return Int64(exactly: number)
        case .unheld(let length):
            // A decimal holds 18 digits, but an integer may have 19.
            return Int64(String(decoding: self.bytes[start..<start + length], as: UTF8.self))
        case .invalid: return nil
        }
    }

    /// Consumes `true`, `false` or `null` and returns its first letter; `nil` for anything else.
    package mutating func literal() -> UInt8? {
        self.skipWhitespace()
        let first = self.here
        let word: StaticString
        switch first {
        case UInt8(ascii: "t"): word = "true"
        case UInt8(ascii: "f"): word = "false"
        case UInt8(ascii: "n"): word = "null"
        default:
            self.fail()
            return nil
        }
        let rest = UnsafeRawBufferPointer(rebasing: self.bytes[self.position...])
        guard rest.starts(with: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)) else {
            self.fail()
            return nil
        }
        self.position += word.utf8CodeUnitCount
        return first
    }

    /// Reads a string and returns the bytes between its quotation marks, still escaped; `nil` if there is no valid
    /// string.
    package mutating func string() -> JSONString? {
        guard self.take(UInt8(ascii: "\"")) else {
            self.fail()
            return nil
        }
        let start = self.position
        var isEscaped = false
        var mayBeLong = true
        while self.position < self.bytes.count {
            if mayBeLong, self.position - start >= Self.shortString {
                mayBeLong = false
                self.skipUsualText(&isEscaped)
                continue
            }
            let byte = self.bytes[self.position]
            if byte == UInt8(ascii: "\"") {
                let raw = UnsafeRawBufferPointer(rebasing: self.bytes[start..<self.position])
                self.position += 1
                return JSONString(raw: raw, isEscaped: isEscaped)
            }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                guard self.skipEscape() else { break }
            } else {
                guard byte >= 0x20 else { break }
                self.position += 1
            }
        }
        self.fail()
        return nil
    }

    /// The length up to which a string is read byte by byte; most keys and names end before the faster loop would pay
    /// off.
    private static let shortString = 64

    /// Skips the part of a long string in which only quotation marks are escaped; never ends within an escape.
    private mutating func skipUsualText(_ isEscaped: inout Bool) {
        guard let base = self.bytes.baseAddress else { return }
        var escapes: CInt = 0
        self.position += tickertape_usual_text(base + self.position, self.bytes.count - self.position, &escapes)
        if escapes != 0 { isEscaped = true }
    }

    private mutating func skipEscape() -> Bool {
        guard self.position + 1 < self.bytes.count else { return false }
        switch self.bytes[self.position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            self.position += 2
            return true
        case UInt8(ascii: "u"):
            guard self.position + 6 <= self.bytes.count else { return false }
            for index in self.position + 2..<self.position + 6 where JSONString.hexDigit(self.bytes[index]) == nil {
                return false
            }
            self.position += 6
            return true
        default:
            return false
        }
    }

    /// Reads a list of strings; `nil` for anything else and for a list longer than `limit`.
    package mutating func strings(atMost limit: Int) -> [String]? {
        guard self.take(UInt8(ascii: "[")) else { return nil }
        if self.take(UInt8(ascii: "]")) { return [] }
        var strings: [String] = []
        repeat {
            guard strings.count < limit, let string = self.string() else { return nil }
            strings.append(string.text)
        } while self.take(UInt8(ascii: ","))
        return self.take(UInt8(ascii: "]")) ? strings : nil
    }

    /// Consumes a value of any kind and returns its bytes; `nil` if ``skipValue()`` fails.
    package mutating func rawValue() -> UnsafeRawBufferPointer? {
        self.skipWhitespace()
        let start = self.position
        guard self.skipValue() else { return nil }
        return UnsafeRawBufferPointer(rebasing: self.bytes[start..<self.position])
    }

    /// Consumes a value of any kind and checks its grammar; `false` if it is malformed or nested too deeply.
    package mutating func skipValue() -> Bool {
        // One bit a level: 1 for an object, 0 for an array.
        var nesting: UInt64 = 0
        var depth = 0
        while true {
            // A value is expected here.
            switch self.kind() {
            case .string: guard self.string() != nil else { return false }
            case .number: if case .invalid = self.number() { return false }
            case .literal: guard self.literal() != nil else { return false }
            case .invalid: return false
            case .object:
                self.position += 1
                if !self.take(UInt8(ascii: "}")) {
                    guard depth < Self.maximumDepth, self.skipKey() else { return false }
                    nesting = nesting << 1 | 1
                    depth += 1
                    continue
                }
            case .array:
                self.position += 1
                if !self.take(UInt8(ascii: "]")) {
                    guard depth < Self.maximumDepth else { return false }
                    nesting = nesting << 1
                    depth += 1
                    continue
                }
            }
            // A value ends here, and perhaps the containers around it.
            closing: while depth > 0 {
                let isObject = nesting & 1 == 1
                if self.take(UInt8(ascii: ",")) {
                    if isObject { guard self.skipKey() else { return false } }
                    break closing
                }
                guard self.take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
                nesting >>= 1
                depth -= 1
            }
            if depth == 0 { return true }
        }
    }

    private mutating func skipKey() -> Bool { self.string() != nil && self.take(UInt8(ascii: ":")) }
}

/// Iteration over the members of an object: after `{`, each step reads one key with its colon.
extension JSONReader {
    /// One step of the iteration.
    package enum Member {
        /// A key. The caller must read or skip its value next.
        case key(JSONString)
        case end
        case invalid
    }

    /// Reads the next key. `isFirst` is true only before the first one.
    package mutating func nextMember(isFirst: inout Bool) -> Member {
        if self.take(UInt8(ascii: "}")) { return .end }
        if !isFirst { guard self.take(UInt8(ascii: ",")) else { return .invalid } }
        isFirst = false
        guard let key = self.string(), self.take(UInt8(ascii: ":")) else { return .invalid }
        return .key(key)
    }

    /// Reads an object.
    ///
    /// - Parameter body: called at the value of each key, which it reads or skips; returns whether it succeeded.
    /// - Returns: whether there was a complete object, and `body` accepted every value.
    package mutating func object(_ body: (JSONString, inout JSONReader) -> Bool) -> Bool {
        guard self.take(UInt8(ascii: "{")) else { return false }
        var isFirst = true
        while true {
            switch self.nextMember(isFirst: &isFirst) {
            case .end: return true
            case .invalid: return false
            case .key(let key): guard body(key, &self) else { return false }
            }
        }
    }

    /// Reads a text that is exactly one object, as ``object(_:)`` does.
    package static func wholeObject(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (JSONString, inout JSONReader) -> Bool
    ) -> Bool {
        var reader = JSONReader(bytes)
        return reader.object(body) && reader.isAtEnd()
    }
}
