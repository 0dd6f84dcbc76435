import Market

/// The signs of the screen, in both sets of characters.
extension ScreenGlyphs {
    /// Gives the sign of this set.
    func sign(_ unicode: String, _ ascii: String) -> String { self == .unicode ? unicode : ascii }

    /// What stands before a chosen line.
    var pointer: String { self.sign("▸", ">") }
    /// One column of a line across the screen.
    var rule: String { self.sign("─", "-") }

    func arrow(_ direction: PriceDirection) -> String {
        switch direction {
        case .none: " "
        case .up: self.sign("▲", "^")
        case .down: self.sign("▼", "v")
        }
    }
}
