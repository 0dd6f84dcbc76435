import Market

/// The parser of decimal numbers of at most 15 characters, eight bytes at a time.
enum TemplateNumber {
    /// The character `0`, eight times.
    static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// Reads the number at `here` and moves past it; `nil` if it is longer, malformed, negative, or not a valid size by
    /// ``TradeBounds``. Every such number except 0 is also a valid price.
    ///
    /// It reads at most 16 bytes. The caller checks the byte after the number.
    @inline(__always)
    static func parse(_ here: inout UnsafeRawPointer) -> ExactDecimal? {
        let word = here.word() ^ self.zeros
        var others = self.others(word)
        // At least eight digits, or eight characters followed by another digit.
        guard others != 0 else { return self.parseLong(&here) }

        var length = others.trailingZeroBitCount / 8
        var digits = word
        var fraction = 0
        if here.byte(length) == "." {
            let point = length
            others &= others &- 1
            if others != 0 {
                length = others.trailingZeroBitCount / 8
            } else {
                // Seven digits and the point fill the word, so the number must end here.
                if here.byte(8) &- 0x30 <= 9 { return self.parseLong(&here) }
                length = 8
            }
            fraction = length - point - 1
            guard fraction > 0 else { return nil }
            let before = (UInt64(1) << UInt64(truncatingIfNeeded: 8 * point)) &- 1
            digits = (digits & before) | ((digits >> 8) & ~before)
            // A leading zero is allowed only directly before the point.
            guard point == 1 || word & 0xFF != 0, point > 0 else { return nil }
            here += length
            length -= 1
        } else {
            guard length == 1 || word & 0xFF != 0, length > 0 else { return nil }
            here += length
        }
        // Shifts the digits to the end of the eight, and shifts out the bytes after them.
        digits <<= UInt64(truncatingIfNeeded: 64 - 8 * length)
        let significand = Int64(self.eightDigits(digits))
        guard digits >> 56 != 0 else { return ExactDecimal(significand: significand, exponent: -fraction) }
        return ExactDecimal(normalisedSignificand: significand, exponent: Int16(truncatingIfNeeded: -fraction))
    }

    /// Reads a number of more than eight characters.
    @inline(never)
    private static func parseLong(_ here: inout UnsafeRawPointer) -> ExactDecimal? {
        // The scanner stops at the first byte that is not part of the number. A number of 16 characters may continue
        // after them. The scanner accepts exponents, with which a number can exceed the bounds.
        guard
            case .number(let number, let length) = ExactDecimal.scan(UnsafeRawBufferPointer(start: here, count: 16)),
            length < 16, TradeBounds.canBeSize(number)
        else { return nil }
        here += length
        return number
    }

    /// Marks, by its highest bit, each byte that is not a digit; the argument has been XORed with ``zeros``.
    @inline(__always)
    static func others(_ word: UInt64) -> UInt64 {
        ((word & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7676_7676_7676_7676 | word) & 0x8080_8080_8080_8080
    }

    /// Returns the number of eight digits. Each byte is the value of one digit, the first digit lowest.
    @inline(__always)
    static func eightDigits(_ word: UInt64) -> UInt64 {
        // Combines pairs, then fours, then eights: three multiplications.
        let pairs = word &* 10 &+ word >> 8
        let low = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return (low &+ high) >> 32
    }
}
