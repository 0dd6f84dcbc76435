/// An exact decimal number: `significand × 10^exponent`, never rounded.
///
/// A price or a size as the venue sent it. The form is normalised: no trailing zero in the significand, and zero is
/// always `0 × 10^0`. Equal numbers therefore have equal bits, and `==` and `hash` compare bits.
///
/// It holds any number of up to 18 significant digits whose power of ten is between ``minimumExponent`` and
/// ``maximumExponent``.
@frozen
public struct ExactDecimal: Sendable, Hashable {
    /// The digits with their sign, without a trailing zero; the magnitude is below `10^18`.
    public let significand: Int64
    /// The power of ten, from `minimumExponent` to `maximumExponent`.
    public let exponent: Int16

    /// The smallest power of ten that can be held; with 18 digits it is far below the range of any float.
    public static var minimumExponent: Int { @inlinable get { -1_000 } }
    /// The largest power of ten that can be held.
    public static var maximumExponent: Int { @inlinable get { 1_000 } }
    /// The smallest magnitude of a significand that cannot be held: 19 digits.
    public static var significandLimit: Int64 { @inlinable get { 1_000_000_000_000_000_000 } }

    /// Creates `significand × 10^exponent` from values that the caller knows to be normalised: no trailing zero, at
    /// most 18 digits, an exponent in range, zero only as `0 × 10^0`.
    @inlinable
    public init(normalisedSignificand significand: Int64, exponent: Int16) {
        assert(significand.magnitude < Self.significandLimit.magnitude)
        assert(significand == 0 ? exponent == 0 : significand % 10 != 0)
        self.significand = significand
        self.exponent = exponent
    }

    /// Creates `significand × 10^exponent` in normalised form; `nil` if it has more than 18 significant digits or its
    /// exponent is out of range.
    @inlinable
    public init?(significand: Int64, exponent: Int) {
        guard significand != 0 else {
            self = .zero
            return
        }
        var digits = significand
        var power = exponent
        while true {
            let (quotient, remainder) = digits.quotientAndRemainder(dividingBy: 10)
            if remainder != 0 { break }
            digits = quotient
            power += 1
        }
        guard
            digits.magnitude < Self.significandLimit.magnitude,
            power >= Self.minimumExponent, power <= Self.maximumExponent
        else { return nil }
        self.init(normalisedSignificand: digits, exponent: Int16(truncatingIfNeeded: power))
    }

    /// Zero.
    public static var zero: ExactDecimal {
        @inlinable get { ExactDecimal(normalisedSignificand: 0, exponent: 0) }
    }

    /// Whether this is zero.
    @inlinable
    public var isZero: Bool { self.significand == 0 }
}
