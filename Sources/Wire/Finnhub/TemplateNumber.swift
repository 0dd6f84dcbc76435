import Market

/// A decimal number of at most 15 characters, read eight bytes at a time.
enum TemplateNumber {
    /// Eight times the character `0`.
    static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// Reads the number at `here` and steps over it; `nil` when it is longer, malformed, negative, or not a size that
    /// ``TradeBounds`` allows, which is a price they allow, too, where it is not 0.
    ///
    /// Reads no further than 16 bytes. What stands behind the number is the caller's to check.
    @inline(__always)
    static func parse(_ here: inout UnsafeRawPointer) -> ExactDecimal? {
        let word = here.word() ^ self.zeros
        var others = self.others(word)
        // Eight digits and more, or eight characters that another digit follows.
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
                // Seven digits and the point fill the word; the number must end with it.
                if here.byte(8) &- 0x30 <= 9 { return self.parseLong(&here) }
                length = 8
            }
            fraction = length - point - 1
            guard fraction > 0 else { return nil }
            let before = (UInt64(1) << UInt64(truncatingIfNeeded: 8 * point)) &- 1
            digits = (digits & before) | ((digits >> 8) & ~before)
            // A zero in front is allowed only directly before the point.
            guard point == 1 || word & 0xFF != 0, point > 0 else { return nil }
            here += length
            length -= 1
        } else {
            guard length == 1 || word & 0xFF != 0, length > 0 else { return nil }
            here += length
        }
        // The digits become the last of eight; what stood behind them is shifted out.
        digits <<= UInt64(truncatingIfNeeded: 64 - 8 * length)
        let significand = Int64(self.eightDigits(digits))
        guard digits >> 56 != 0 else { return ExactDecimal(significand: significand, exponent: -fraction) }
        return ExactDecimal(normalisedSignificand: significand, exponent: Int16(truncatingIfNeeded: -fraction))
    }

    /// Reads a number of more than eight characters.
    @inline(never)
    private static func parseLong(_ here: inout UnsafeRawPointer) -> ExactDecimal? {
        // The scanner stops at the first byte that is not the number's; one that reaches the end may go on behind it. It
        // takes exponents, by which a number can be beyond the bounds.
        guard
            case .number(let number, let length) = ExactDecimal.scan(UnsafeRawBufferPointer(start: here, count: 16)),
            length < 16, TradeBounds.canBeSize(number)
        else { return nil }
        here += length
        return number
    }

    /// Marks, by its highest bit, each byte that is no digit; the argument has been XORed with ``zeros``.
    @inline(__always)
    static func others(_ word: UInt64) -> UInt64 {
        ((word & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7676_7676_7676_7676 | word) & 0x8080_8080_8080_8080
    }

    /// The number of eight digits, each the value of one byte, the first of them lowest.
    @inline(__always)
    static func eightDigits(_ word: UInt64) -> UInt64 {
        // Pairs, then fours and eights: three multiplications.
        let pairs = word &* 10 &+ word >> 8
        let low = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return (low &+ high) >> 32
    }
}
