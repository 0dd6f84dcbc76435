import Market

extension VenueTemplate {
    /// Reads an integer of at most 15 digits and moves past it; `nil` if it is longer or not an integer. It reads at
    /// most 16 bytes. The caller checks the byte after the number.
    @inline(__always)
    static func integer(_ here: inout UnsafeRawPointer) -> UInt64? {
        let first = here.word() ^ TemplateNumber.zeros
        let others = TemplateNumber.others(first)
        if others != 0 {
            let length = others.trailingZeroBitCount / 8
            guard length > 0, length == 1 || first & 0xFF != 0 else { return nil }
            here += length
            return TemplateNumber.eightDigits(first << UInt64(truncatingIfNeeded: 64 - 8 * length))
        }
        guard first & 0xFF != 0 else { return nil }
        let second = here.word(8) ^ TemplateNumber.zeros
        let rest = TemplateNumber.others(second)
        guard rest != 0 else { return nil }
        let length = rest.trailingZeroBitCount / 8
        here += 8 + length
        let high = TemplateNumber.eightDigits(first)
        guard length > 0 else { return high }
        let low = TemplateNumber.eightDigits(second << UInt64(truncatingIfNeeded: 64 - 8 * length))
        return high &* Self.powerOfTen(length) &+ low
    }

    /// A number, and the length of its text.
    struct Decimal {
        var value: ExactDecimal
        /// 0 if there is no number.
        var length: Int

        static var none: Decimal { Decimal(value: .zero, length: 0) }
    }

    /// Reads a decimal number of at most 23 characters without an exponent and moves past it; `nil` if it is longer,
    /// malformed, negative, zero, or not a valid size by ``TradeBounds``. Every such number is also a valid price.
    ///
    /// It reads at most 24 bytes. The caller checks the byte after the number.
    @inline(__always)
    static func positive(_ here: inout UnsafeRawPointer) -> ExactDecimal? {
        let number = Self.decimal(here)
        here += number.length
        return number.value.significand > 0 ? number.value : nil
    }

    /// Reads the number at `here`. The result fits in registers, which a pointer to move would not.
    private static func decimal(_ here: UnsafeRawPointer) -> Decimal {
        let word = here.word() ^ TemplateNumber.zeros
        let others = TemplateNumber.others(word)
        let length = others.trailingZeroBitCount / 8
        guard others != 0, here.byte(length) == "." else { return self.otherDecimal(here) }
        // A leading zero is allowed only as the only digit before the point.
        guard length > 0, length == 1 || word & 0xFF != 0 else { return .none }
        let whole = TemplateNumber.eightDigits(word << UInt64(truncatingIfNeeded: 64 - 8 * length))

        var fraction = here.word(length + 1) ^ TemplateNumber.zeros
        let behind = TemplateNumber.others(fraction)
        let end: Int
        if behind == 0 {
            // Eight digits, as Binance sends them, or more.
            end = length + 9
            if here.byte(end) &- 0x30 <= 9 { return self.otherDecimal(here) }
        } else {
            let digits = behind.trailingZeroBitCount / 8
            guard digits > 0 else { return .none }
            fraction &= (UInt64(1) << UInt64(truncatingIfNeeded: 8 * digits)) &- 1
            end = length + 1 + digits
        }
        guard fraction != 0 else { return self.whole(whole, length: end) }
        // Shifts out the trailing zeros, so that the number is normalised.
        let zeros = fraction.leadingZeroBitCount / 8
        let digits = TemplateNumber.eightDigits(fraction << UInt64(truncatingIfNeeded: 8 * zeros))
        let number = ExactDecimal(
            normalisedSignificand: Int64(truncatingIfNeeded: whole &* Self.powerOfTen(8 - zeros) &+ digits),
            exponent: Int16(truncatingIfNeeded: zeros - 8)
        )
        return Decimal(value: number, length: end)
    }

    /// Reads a number without a point, or with eight or more digits before the point or nine or more after it.
    @inline(never)
    private static func otherDecimal(_ here: UnsafeRawPointer) -> Decimal {
        // The scanner stops at the first byte that is not part of the number. A number of 24 characters may continue
        // after them. The scanner accepts exponents, with which a number can exceed the bounds.
        guard
            case .number(let number, let length) = ExactDecimal.scan(UnsafeRawBufferPointer(start: here, count: 24)),
            length < 24, TradeBounds.canBeSize(number)
        else { return .none }
        return Decimal(value: number, length: length)
    }

    @inline(never)
    private static func whole(_ number: UInt64, length: Int) -> Decimal {
        guard let value = ExactDecimal(significand: Int64(truncatingIfNeeded: number), exponent: 0) else {
            return .none
        }
        return Decimal(value: value, length: length)
    }

    /// Reads a time of 13 digits in ms and moves past it; returns ns. It reads 13 bytes.
    @inline(__always)
    static func milliseconds(_ here: inout UnsafeRawPointer) -> Int64? {
        let first = here.word() ^ TemplateNumber.zeros
        let last = here.word(5) ^ TemplateNumber.zeros
        guard TemplateNumber.others(first) | TemplateNumber.others(last) == 0, first & 0xFF != 0 else { return nil }
        // The first five digits, shifted so that they are the last of eight.
        let thousands = TemplateNumber.eightDigits(first << 24)
        let milliseconds = Int64(thousands) &* 100_000_000 &+ Int64(TemplateNumber.eightDigits(last))
        guard milliseconds <= FinnhubTime.last else { return nil }
        here += 13
        return milliseconds &* 1_000_000
    }

    /// Moves past a time of 13 digits in ms without computing it. It reads 13 bytes.
    @inline(__always)
    static func takeMilliseconds(_ here: inout UnsafeRawPointer) -> Bool {
        let first = here.word() ^ TemplateNumber.zeros
        let last = here.word(5) ^ TemplateNumber.zeros
        here += 13
        return TemplateNumber.others(first) | TemplateNumber.others(last) == 0 && first & 0xFF != 0
    }

    /// `10^exponent`, for an exponent from 0 to 8.
    @inline(__always)
    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        switch exponent {
        case 0: 1
        case 1: 10
        case 2: 100
        case 3: 1_000
        case 4: 10_000
        case 5: 100_000
        case 6: 1_000_000
        case 7: 10_000_000
        default: 100_000_000
        }
    }
}
