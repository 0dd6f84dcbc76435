/// A floating-point number of 16 bits (IEEE 754 binary16), which not every processor of this program has.
enum HalfFloat {
    /// Returns the number with these bits; each has an exact `Float`.
    static func float(_ bits: UInt16) -> Float {
        let sign: Float = bits & 0x8000 == 0 ? 1 : -1
        let exponent = Int(bits >> 10 & 0x1F)
        let fraction = Float(bits & 0x3FF)
        switch exponent {
        case 0: return sign * Float(sign: .plus, exponent: -24, significand: fraction)
        case 31: return fraction == 0 ? sign * .infinity : .nan
        case _: return sign * Float(sign: .plus, exponent: exponent - 25, significand: 1_024 + fraction)
        }
    }
}
