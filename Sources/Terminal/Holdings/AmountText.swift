import Market

/// The formatting of amounts of money on the screen: with two decimals, and with up to eight below one
/// half. Lines for programs
/// have every digit.
struct AmountText {
    let look: DisplayLook
    /// Whether amounts are replaced by dots, for a screen that others see.
    let isHidden: Bool

    /// The text in place of a hidden amount, always of the same length.
    private var hidden: String { String(repeating: self.look.glyphs.sign("•", "*"), count: 5) }

    /// Returns an amount; a dash if it is not known.
    func amount(_ sum: ExactSum, isSigned: Bool = false) -> String {
        guard !self.isHidden else { return self.hidden }
        guard sum.isWhole, let number = sum.rounded else { return "-" }
        let rounded = number.rounded(fractionDigits: number.rounded(fractionDigits: 0).isZero ? 8 : 2)
        let sign = isSigned && rounded > .zero ? "+" : ""
        return sign + self.look.written(rounded, fractionDigits: 2)
    }

    /// Returns a quantity with every digit.
    func quantity(_ sum: ExactSum) -> String {
        self.isHidden ? self.hidden : self.look.written(PriceText.shortened(sum))
    }

    /// Returns the profit on an earlier value in percent; empty if it has no meaning.
    func percent(_ value: ExactSum, since before: ExactSum) -> String {
        guard let value = value.rounded, let before = before.rounded else { return "" }
        return PriceText.percent(value, since: before).map(self.look.written) ?? ""
    }
}
