import Market

/// A JSON number by its digits alone: the reference for the program's decimals.
struct ReferenceNumber: Equatable {
    var isNegative: Bool
    /// Without zeros at both ends; empty for zero.
    var digits: String
    /// Of the last digit; `nil` if it is beyond every range.
    var exponent: Int?

    /// - Parameter text: a number in JSON's grammar; `nil` for another text.
    init?(_ text: String) {
        guard case .number(let number) = JSONTree(Array(text.utf8)), number.utf8.count <= text.utf8.count,
            text.utf8.first != UInt8(ascii: " "), text.utf8.allSatisfy({ $0 > 0x20 })
        else { return nil }
        let parts = number.split(separator: "e", maxSplits: 1).map(String.init)
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
        var digits = String(mantissa[0]) + fraction
        var exponent = parts.count > 1 ? Int(parts[1]).flatMap { abs($0) < 1_000_000 ? $0 : nil } : 0
        exponent = exponent.map { $0 - fraction.count }
        while digits.hasSuffix("0") {
            digits.removeLast()
            exponent = exponent.map { $0 + 1 }
        }
        self.digits = String(digits.drop { $0 == "0" })
        self.isNegative = number.hasPrefix("-") && !self.digits.isEmpty
        self.exponent = self.digits.isEmpty ? 0 : exponent
    }

    /// The program's decimal; `nil` with more than 18 digits or an exponent beyond 1,000.
    var decimal: ExactDecimal? {
        guard let exponent, self.digits.count <= 18, abs(exponent) <= 1_000 else { return nil }
        guard let significand = Int64(self.digits.isEmpty ? "0" : self.digits) else { return nil }
        return ExactDecimal(significand: self.isNegative ? -significand : significand, exponent: exponent)
    }

    /// The number times a power of ten, if that is whole and fits; `nil` for a number that the program cannot hold.
    func whole(times power: Int = 0) -> Int64? {
        guard self.decimal != nil, let exponent else { return nil }
        if self.digits.isEmpty { return 0 }
        guard exponent + power >= 0, exponent + power <= 18 else { return nil }
        return Int64((self.isNegative ? "-" : "") + self.digits + String(repeating: "0", count: exponent + power))
    }
}
