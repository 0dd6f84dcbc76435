extension ExactDecimal: CustomStringConvertible {
    /// The style of a number's text.
    package enum TextStyle: Sendable {
        /// All digits in place (`61837.63`, `0.00000095`) if they take at most 40 characters, otherwise `1.5e-45`.
        case plain
        /// The style of the encoder of Finnhub's Go service: an exponent only below `1e-6` (`9.5e-7`) and from `1e+21`.
        case finnhub
    }

    /// The buffer space that suffices for any number in any style, in bytes.
    package static var maximumTextLength: Int { 64 }

    /// The exact number as text: all digits in place if they take at most 40 characters, otherwise `1.5e-45`.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.maximumTextLength) { buffer in
            self.write(to: UnsafeMutableRawBufferPointer(buffer), style: .plain)
        }
    }

    /// Writes the number as text and returns its length in bytes.
    ///
    /// - Precondition: `buffer` has room for ``maximumTextLength`` bytes.
    package func write(to buffer: UnsafeMutableRawBufferPointer, style: TextStyle) -> Int {
        DecimalText.write(
            magnitude: self.significand.magnitude,
            isNegative: self.significand < 0,
            exponent: Int(self.exponent),
            style: style,
            to: buffer
        )
    }
}

/// The layout of a decimal number as text, for integers of any width.
enum DecimalText {
    /// The largest number of characters (without the sign) at which all digits are written in place.
    static let plainLimit = 40

    static func write(
        magnitude: some FixedWidthInteger & UnsignedInteger,
        isNegative: Bool,
        exponent: Int,
        style: ExactDecimal.TextStyle,
        to buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        precondition(buffer.count >= ExactDecimal.maximumTextLength, "no room for a number's text: \(buffer.count)")
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 40) { scratch in
            // The digits, right-aligned in the scratch buffer.
            var first = scratch.count
            var rest = magnitude
            repeat {
                let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
                first -= 1
                scratch[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remainder)
                rest = quotient
            } while rest != 0
            let digits = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: scratch[first...]))

            var out = TextWriter(buffer: buffer)
            if isNegative { out.put("-") }
            if Self.isPlain(digits: digits.count, isZero: magnitude == 0, exponent: exponent, style: style) {
                Self.writePlain(digits, exponent: exponent, to: &out)
            } else {
                Self.writeScientific(digits, exponent: exponent, style: style, to: &out)
            }
            return out.count
        }
    }

    private static func isPlain(digits: Int, isZero: Bool, exponent: Int, style: ExactDecimal.TextStyle) -> Bool {
        if isZero { return true }
        switch style {
        case .plain:
            if exponent >= 0 { return digits + exponent <= Self.plainLimit }
            return max(digits, 1 - exponent) + 1 <= Self.plainLimit
        case .finnhub:
            // The power of ten of the first digit: 10^lead ≤ x < 10^(lead + 1).
            let lead = digits - 1 + exponent
            return lead >= -6 && lead < 21
        }
    }

    private static func writePlain(_ digits: UnsafeRawBufferPointer, exponent: Int, to out: inout TextWriter) {
        if exponent >= 0 {
            out.put(digits)
            for _ in 0..<exponent { out.put("0") }
        } else if digits.count > -exponent {
            let point = digits.count + exponent
            out.put(UnsafeRawBufferPointer(rebasing: digits[..<point]))
            out.put(".")
            out.put(UnsafeRawBufferPointer(rebasing: digits[point...]))
        } else {
            out.put("0")
            out.put(".")
            for _ in 0..<(-exponent - digits.count) { out.put("0") }
            out.put(digits)
        }
    }

    private static func writeScientific(
        _ digits: UnsafeRawBufferPointer,
        exponent: Int,
        style: ExactDecimal.TextStyle,
        to out: inout TextWriter
    ) {
        var last = digits.count
        // Sums are not normalised; a trailing zero has no meaning here.
        while last > 1, digits[last - 1] == UInt8(ascii: "0") { last -= 1 }
        out.put(UnsafeRawBufferPointer(rebasing: digits[..<1]))
        if last > 1 {
            out.put(".")
            out.put(UnsafeRawBufferPointer(rebasing: digits[1..<last]))
        }
        out.put("e")
        let lead = digits.count - 1 + exponent
        if lead < 0 { out.put("-") } else if style == .finnhub { out.put("+") }
        out.put(integer: lead.magnitude)
    }
}

/// A writer that appends bytes to a buffer which is known to be large enough.
private struct TextWriter {
    let buffer: UnsafeMutableRawBufferPointer
    var count = 0

    init(buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

    mutating func put(_ character: Unicode.Scalar) {
        self.buffer[self.count] = UInt8(ascii: character)
        self.count += 1
    }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            self.buffer[self.count] = byte
            self.count += 1
        }
    }

    mutating func put(integer: UInt) {
        if integer >= 10 { self.put(integer: integer / 10) }
        self.buffer[self.count] = UInt8(ascii: "0") + UInt8(integer % 10)
        self.count += 1
    }
}
