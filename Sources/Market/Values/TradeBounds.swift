/// The bounds of a trade's price and size. A value outside of them is malformed, whatever its source: no exchange uses
/// such values, and readers that use floating point could not represent them.
///
/// Real values are far within the bounds: the cheapest coins cost 10^-12 of another coin, the smallest unit of any coin
/// in use is 10^-18, and a trade may have up to 10^17 whole coins. Sizes within the bounds add up exactly to a sum
/// below 10^20.
package enum TradeBounds {
    /// Every price and every size is below ten to this power.
    package static let magnitude = 18
    /// The largest number of decimals of a price, and of a size.
    package static let priceDecimals = 30
    package static let sizeDecimals = 18

    /// Returns whether a trade can have this price: above zero, below 10^18, with at most 30 decimals.
    package static func canBePrice(_ price: ExactDecimal) -> Bool {
        price.significand > 0 && self.isBelow(price) && Int(price.exponent) >= -self.priceDecimals
    }

    /// Returns whether a trade can have this size: not negative, below 10^18, with at most 18 decimals.
    package static func canBeSize(_ size: ExactDecimal) -> Bool {
        size.significand >= 0 && self.isBelow(size) && Int(size.exponent) >= -self.sizeDecimals
    }

    /// Returns whether a sum of sizes can have this value: not negative, below 10^38, with at most 18 decimals. A sum
    /// that lacks an addend is accepted, too.
    package static func canBeVolume(_ volume: ExactSum) -> Bool {
        self.isSum(volume, below: 38, decimals: self.sizeDecimals)
    }

    /// Returns whether a sum of prices times sizes can have this value: not negative, below 10^56, with at most 48
    /// decimals. A sum that lacks an addend is accepted, too.
    package static func canBeTurnover(_ turnover: ExactSum) -> Bool {
        self.isSum(turnover, below: 38 + self.magnitude, decimals: self.priceDecimals + self.sizeDecimals)
    }

    /// - Parameter power: the power of ten above the sum; at least 38, since a sum has at most 38 digits.
    private static func isSum(_ sum: ExactSum, below power: Int, decimals: Int) -> Bool {
        let (digits, exponent) = sum.normalised
        guard digits >= 0, exponent >= -decimals else { return false }
        return exponent <= power - 38 || (exponent < power && digits < PowerOfTen.int128(power - exponent))
    }

    private static func isBelow(_ number: ExactDecimal) -> Bool {
        let exponent = Int(number.exponent)
        // A significand has at most 18 digits.
        guard exponent > 0 else { return true }
        return exponent < self.magnitude && number.significand.magnitude < PowerOfTen.uint64(self.magnitude - exponent)
    }
}
