import Market

/// The signs of the screen, in both character sets.
extension ScreenGlyphs {
    /// Returns the sign of this set.
    func sign(_ unicode: String, _ ascii: String) -> String { self == .unicode ? unicode : ascii }

    /// The mark before a chosen line.
    var pointer: String { self.sign("▸", ">") }
    /// One column of a rule.
    var rule: String { self.sign("─", "-") }

    func arrow(_ direction: PriceDirection) -> String {
        switch direction {
        case .none: " "
        case .up: self.sign("▲", "^")
        case .down: self.sign("▼", "v")
        }
    }
}
