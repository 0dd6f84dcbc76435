import Market

/// The reading of an object's values into variables. A value of another kind is consumed and leaves `nil`, so that of
/// duplicate keys the last counts. Each returns `false` only for broken JSON.
extension JSONReader {
    mutating func take(string: inout JSONString?) -> Bool {
        string = nil
        guard case .string = self.kind() else { return self.skipValue() }
        string = self.string()
        return string != nil
    }

    /// Reads a number that stands in a string, as Binance and Coinbase send them.
    mutating func take(quoted number: inout ExactDecimal?) -> Bool {
        number = nil
        var text: JSONString?
        guard self.take(string: &text) else { return false }
        number = text?.withUnescaped { ExactDecimal(utf8: $0) }
        return true
    }

    mutating func take(number: inout ExactDecimal?) -> Bool {
        number = nil
        guard case .number = self.kind() else { return self.skipValue() }
        switch self.number() {
        case .number(let value, _): number = value
        case .unheld: break
        case .invalid: return false
        }
        return true
    }

    mutating func take(integer: inout Int64?) -> Bool {
        var number: UInt64?
        integer = nil
        guard case .number = self.kind() else { return self.skipValue() }
        guard self.take(unsigned: &number) else { return false }
        integer = number.flatMap { Int64(exactly: $0) }
        return true
    }

    /// Reads an integer from 0 to 2^64 - 1.
    mutating func take(unsigned: inout UInt64?) -> Bool {
        unsigned = nil
        guard case .number = self.kind() else { return self.skipValue() }
        guard let text = self.rawValue() else { return false }
        if let number = ExactDecimal(utf8: text) {
            unsigned = Int64(exactly: number).flatMap { UInt64(exactly: $0) }
        } else {
            // A decimal holds 18 digits, but an integer may have 20.
            unsigned = UInt64(String(decoding: text, as: UTF8.self))
        }
        return true
    }

    mutating func take(bool: inout Bool?) -> Bool {
        bool = nil
        guard case .literal = self.kind() else { return self.skipValue() }
        guard let letter = self.literal() else { return false }
        if letter != UInt8(ascii: "n") { bool = letter == UInt8(ascii: "t") }
        return true
    }
}

extension JSONString {
    /// The unescaped string, cut to at most `limit` bytes at the boundary of a Unicode scalar.
    func text(atMost limit: Int) -> String {
        let text = self.text
        guard text.utf8.count > limit else { return text }
        var length = 0
        let kept = text.unicodeScalars.prefix { scalar in
            length += UTF8.width(scalar)
            return length <= limit
        }
        return String(String.UnicodeScalarView(kept))
    }
}
