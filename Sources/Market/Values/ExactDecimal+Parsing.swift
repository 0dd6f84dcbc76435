extension ExactDecimal {
    /// What stands at a place in a text where a number is expected.
    package enum Scan: Sendable, Equatable {
        /// A number, and how many bytes it takes.
        case number(ExactDecimal, length: Int)
        /// A number of more than 18 significant digits or an exponent out of range, and how many bytes it takes.
        case unheld(length: Int)
        /// No JSON number (RFC 8259, 6).
        case invalid
    }

    /// Reads the JSON number (RFC 8259, 6) at the start of `bytes`, up to the first byte that cannot belong to it.
    ///
    /// Never rounds: zeros before the first and behind the last digit that counts are free, more than 18 digits between
    /// them are `unheld`. One pass, without allocation.
    package static func scan(_ bytes: UnsafeRawBufferPointer) -> Scan {
        var scanner = NumberScanner(bytes: bytes)
        return scanner.scan()
    }

    /// Reads a text that is a JSON number (RFC 8259, 6) and nothing else; `nil` when it is none or cannot be held.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard case .number(let number, let length) = Self.scan(bytes), length == bytes.count else { return nil }
        self = number
    }

    /// Reads a text that is a JSON number (RFC 8259, 6) and nothing else; `nil` when it is none or cannot be held.
    public init?(_ text: String) {
        var text = text
        let parsed = text.withUTF8 { ExactDecimal(utf8: UnsafeRawBufferPointer($0)) }
        guard let parsed else { return nil }
        self = parsed
    }
}

/// One pass over the text of a JSON number.
private struct NumberScanner {
    let bytes: UnsafeRawBufferPointer
    var position = 0
    /// The digits so far, up to the last one that is not zero.
    var significand: UInt64 = 0
    /// How many digits `significand` has.
    var digits = 0
    /// Zeros since then, which count only if another digit follows.
    var zeros = 0
    var isHeld = true

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The digit here, or `nil` at anything else.
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
                // Keeps the counters small; the number is lost already.
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

    /// Reads `e`, a sign and digits; saturates far outside of what any text's length could bring back into range.
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
