import CJSONText

/// A string in place within a JSON text: the bytes between its quotation marks.
///
/// It is valid only while the text that it points into is valid.
package struct JSONString {
    package let raw: UnsafeRawBufferPointer
    /// Whether the string contains a backslash.
    package let isEscaped: Bool

    init(raw: UnsafeRawBufferPointer, isEscaped: Bool) {
        self.raw = raw
        self.isEscaped = isEscaped
    }

    /// The only byte of the unescaped string; 0 if it does not have exactly one.
    package var onlyByte: UInt8 {
        if self.raw.count == 1 { return self.raw[0] }
        return self.isEscaped ? self.withUnescaped { $0.count == 1 ? $0[0] : 0 } : 0
    }

    /// Returns whether the unescaped string equals `text`.
    package func equals(_ text: StaticString) -> Bool {
        if self.isEscaped { return self.withUnescaped { Self.equal($0, text) } }
        return Self.equal(self.raw, text)
    }

    private static func equal(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        for index in 0..<bytes.count where bytes[index] != text.utf8Start[index] { return false }
        return true
    }

    /// The unescaped string; bytes that are not UTF-8 are replaced by U+FFFD.
    package var text: String { self.withUnescaped { String(decoding: $0, as: UTF8.self) } }

    /// Calls `body` with the unescaped bytes, which are valid only during the call.
    package func withUnescaped<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard self.isEscaped else { return body(self.raw) }
        // No escape is shorter than the bytes that it stands for.
        return withUnsafeTemporaryAllocation(byteCount: self.raw.count, alignment: 1) { buffer in
            let count = Self.unescape(self.raw, into: buffer)
            return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Writes the unescaped form of `raw` and returns its length; a lone surrogate becomes U+FFFD.
    ///
    /// - Precondition: the escapes are valid, and `buffer` is at least as long as `raw`.
    package static func unescape(_ raw: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let source = raw.baseAddress, let target = buffer.baseAddress else { return 0 }
        var from = 0
        var to = 0
        while true {
            // Up to an escape other than that of a quotation mark.
            let usual = tickertape_unescape_quotes(source + from, raw.count - from, target + to)
            from += usual.read
            to += usual.written
            if from == raw.count { return to }
            let escape = raw[from + 1]
            guard escape == UInt8(ascii: "u") else {
                buffer[to] = Self.plain(escape)
                to += 1
                from += 2
                continue
            }
            var scalar = Self.hexWord(raw, at: from + 2)
            from += 6
            if scalar & 0xF800 == 0xD800 {
                let isPair =
                    scalar & 0xFC00 == 0xD800 && from + 6 <= raw.count && raw[from] == UInt8(ascii: "\\")
                    && raw[from + 1] == UInt8(ascii: "u")
                let low = isPair ? Self.hexWord(raw, at: from + 2) : 0
                if low & 0xFC00 == 0xDC00 {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
                    from += 6
                } else {
                    scalar = 0xFFFD
                }
            }
            for unit in UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}").unsafelyUnwrapped {
                buffer[to] = unit
                to += 1
            }
        }
    }

    /// Returns the byte for a one-letter escape.
    private static func plain(_ escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    private static func hexWord(_ raw: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        var word: UInt32 = 0
        for index in offset..<offset + 4 { word = word << 4 | UInt32(Self.hexDigit(raw[index]) ?? 0) }
        return word
    }

    package static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
