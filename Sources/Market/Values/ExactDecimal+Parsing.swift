extension ExactDecimal {
    /// The result of reading a number at a position in a text.
    package enum Scan: Sendable, Equatable {
        /// A number, and its length in bytes.
        case number(ExactDecimal, length: Int)
        /// A number of more than 18 significant digits or with an exponent out of range, and its length in bytes.
        case unheld(length: Int)
        /// Not a JSON number (RFC 8259, 6).
        case invalid
    }

    /// Reads the JSON number (RFC 8259, 6) at the start of `bytes`, up to the first byte that cannot belong to it.
    ///
    /// It never rounds. Leading and trailing zeros do not count as digits; a number with more than 18 digits between
    /// them is `unheld`. One pass, without allocation.
    package static func scan(_ bytes: UnsafeRawBufferPointer) -> Scan {
        var scanner = NumberScanner(bytes: bytes)
        return scanner.scan()
    }

    /// Reads a text that is exactly one JSON number (RFC 8259, 6); `nil` for any other text and for a number that
    /// cannot be held.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard case .number(let number, let length) = Self.scan(bytes), length == bytes.count else { return nil }
        self = number
    }

    /// Reads a text that is exactly one JSON number (RFC 8259, 6); `nil` for any other text and for a number that
    /// cannot be held.
    public init?(_ text: String) {
        var text = text
        let parsed = text.withUTF8 { ExactDecimal(utf8: UnsafeRawBufferPointer($0)) }
        guard let parsed else { return nil }
        self = parsed
    }
}

/// A single pass over the text of a JSON number.
private struct NumberScanner {
    let bytes: UnsafeRawBufferPointer
    var position = 0
    /// The digits so far, up to the last nonzero one.
    var significand: UInt64 = 0
    /// The number of digits in `significand`.
    var digits = 0
    /// The number of zeros since then, which count only if another digit follows.
    var zeros = 0
    var isHeld = true

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The digit at the current position; `nil` if there is no digit.
    @inline(__always)
    var digit: UInt8? {
        guard self.position < self.bytes.count else { return nil }
        let value = self.bytes[self.position] &- UInt8(ascii: "0")
        return value <= 9 ? value : nil
    }

    func isAt(_ byte: UInt8) -> Bool { self.position < self.bytes.count && self.bytes[self.position] == byte }

    mutating func scan() -> ExactDecimal.Scan {
        let isNegative = self.isAt(UInt8(ascii: "-"))
        if isNegative { self.position += 1 }

        guard let first = self.digit else { return .invalid }
        if first == 0 {
            self.position += 1
            if self.digit != nil { return .invalid }
        } else {
            self.takeDigits()
        }

        var fractionDigits = 0
        if self.isAt(UInt8(ascii: ".")) {
            self.position += 1
            let start = self.position
            self.takeDigits()
            fractionDigits = self.position - start
            guard fractionDigits > 0 else { return .invalid }
        }

        var exponent = 0
        if self.isAt(UInt8(ascii: "e")) || self.isAt(UInt8(ascii: "E")) {
            guard let written = self.takeExponent() else { return .invalid }
            exponent = written
        }

        guard self.isHeld else { return .unheld(length: self.position) }
        guard self.significand != 0 else { return .number(.zero, length: self.position) }
        let power = exponent + self.zeros - fractionDigits
        guard power >= ExactDecimal.minimumExponent, power <= ExactDecimal.maximumExponent else {
            return .unheld(length: self.position)
        }
        let magnitude = Int64(self.significand)
        let number = ExactDecimal(
            normalisedSignificand: isNegative ? -magnitude : magnitude,
            exponent: Int16(power)
        )
        return .number(number, length: self.position)
    }

    mutating func takeDigits() {
        while let digit = self.digit {
            self.position += 1
            if digit == 0 {
                if self.significand != 0 { self.zeros += 1 }
                continue
            }
            self.digits &+= self.zeros &+ 1
            guard self.digits <= 18 else {
                self.isHeld = false
                // Keeps the counters small, since the number can no longer be held.
                self.digits = 19
                self.zeros = 0
                continue
            }
            // At most 18 digits: no overflow.
            self.significand = self.significand &* 10 &+ UInt64(digit)
            if self.zeros > 0 {
                self.significand = (self.significand &- UInt64(digit)) &* PowerOfTen.uint64(self.zeros) &+ UInt64(digit)
                self.zeros = 0
            }
        }
    }

    /// Reads `e`, a sign and digits. The value saturates far beyond anything that the length of a text could bring back
    /// into range.
    mutating func takeExponent() -> Int? {
        self.position += 1
        let isNegative = self.isAt(UInt8(ascii: "-"))
        if isNegative || self.isAt(UInt8(ascii: "+")) { self.position += 1 }
        guard self.digit != nil else { return nil }
        var value = 0
        while let digit = self.digit {
            self.position += 1
            value = min(value * 10 + Int(digit), 1 << 48)
        }
        return isNegative ? -value : value
    }
}
