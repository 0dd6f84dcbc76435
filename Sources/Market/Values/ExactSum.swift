/// The exact sum of many sizes: up to 38 digits, enough for a day of trades.
package struct ExactSum: Sendable, CustomStringConvertible {
    /// The sum is `significand × 10^exponent`; the exponent is the smallest of all addends.
    private var significand: Int128 = 0
    private var exponent = 0
    /// The number of addends missing from the sum, because 38 digits could not hold it with them.
    ///
    /// Sizes within ``TradeBounds`` are omitted only if they add up to 10^20 or more, which no market reaches in a
    /// year.
    package internal(set) var omitted: UInt64 = 0

    /// Whether no addend is missing. A sum that is not whole is reported as null, not as a smaller number.
    package var isWhole: Bool { self.omitted == 0 }

    package init() {}

    package init(_ number: ExactDecimal) { self.add(number) }

    /// Adds exactly, or leaves the sum as it is and counts the addend in ``omitted``.
    package mutating func add(_ number: ExactDecimal) {
        self.add(Int128(number.significand), exponent: Int(number.exponent))
    }

    /// Adds the product of two numbers exactly (price times size, for a turnover), or counts it in ``omitted``.
    package mutating func add(_ number: ExactDecimal, times other: ExactDecimal) {
        // The product of two significands of 18 digits has at most 36 digits.
        self.add(
            Int128(number.significand) * Int128(other.significand),
            exponent: Int(number.exponent) + Int(other.exponent)
        )
    }

    mutating func add(_ addend: Int128, exponent addendExponent: Int) {
        guard addend != 0 else { return }
        if self.significand == 0 {
            self.significand = addend
            self.exponent = addendExponent
            return
        }
        let shift = addendExponent - self.exponent
        guard shift > -38, shift < 38 else {
            self.omitted += 1
            return
        }
        let power = PowerOfTen.int128(abs(shift))
        let (scaledSum, sumOverflow) =
            shift < 0 ? self.significand.multipliedReportingOverflow(by: power) : (self.significand, false)
        let (scaledAddend, addendOverflow) =
            shift > 0 ? addend.multipliedReportingOverflow(by: power) : (addend, false)
        let (sum, overflow) = scaledSum.addingReportingOverflow(scaledAddend)
        guard !sumOverflow, !addendOverflow, !overflow, sum.magnitude < Self.limit else {
            self.omitted += 1
            return
        }
        self.significand = sum
        self.exponent = min(self.exponent, addendExponent)
    }

    /// The smallest magnitude that cannot be held: 39 digits.
    private static var limit: UInt128 { 100_000_000_000_000_000_000_000_000_000_000_000_000 }

    /// The digits without trailing zeros, and their power of ten.
    var normalised: (significand: Int128, exponent: Int) {
        guard self.significand != 0 else { return (0, 0) }
        var digits = self.significand
        var power = self.exponent
        while true {
            let (quotient, remainder) = digits.quotientAndRemainder(dividingBy: 10)
            if remainder != 0 { return (digits, power) }
            digits = quotient
            power += 1
        }
    }

    /// The sum as a decimal number; `nil` if it has more than 18 significant digits.
    package var decimal: ExactDecimal? {
        let (digits, power) = self.normalised
        guard let narrow = Int64(exactly: digits) else { return nil }
        return ExactDecimal(significand: narrow, exponent: power)
    }

    /// The exact sum as text, in the form of ``ExactDecimal/description``.
    package var description: String {
        String(unsafeUninitializedCapacity: ExactDecimal.maximumTextLength) { buffer in
            self.write(to: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Writes the sum as text and returns its length in bytes.
    ///
    /// - Precondition: `buffer` has room for ``ExactDecimal/maximumTextLength`` bytes.
    package func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        let (digits, power) = self.normalised
        return DecimalText.write(
            magnitude: digits.magnitude,
            isNegative: digits < 0,
            exponent: power,
            style: .plain,
            to: buffer
        )
    }
}

extension ExactSum: Equatable {
    /// Whether both sums are the same number with the same count of omissions.
    package static func == (left: ExactSum, right: ExactSum) -> Bool {
        left.normalised == right.normalised && left.omitted == right.omitted
    }
}
