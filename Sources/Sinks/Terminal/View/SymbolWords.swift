import Market

/// What is wrong with one symbol in words; nothing where nothing is.
struct SymbolWords {
    /// For the column of ages, longest first.
    var forms: [String]
    /// For a symbol without a price.
    var sentence: String
    /// Whether the words tell an age.
    var isAged = false

    /// - Parameter age: how old the symbol's price is, or for how long it has been in this state without one; ns.
    init?(_ status: SymbolStatus?, age: Int64, glyphs: ScreenGlyphs) {
        guard let status else { return nil }
        let mark = Freshness.old.mark(glyphs)
        switch status.state {
        case .asked, .live:
            return nil
        case .quiet:
            let words = AgeText.words(age)
            self.forms = ["\(mark) QUIET \(words)", "\(mark)QUIET \(words)", "\(mark)QUIET", "!"]
            self.sentence = "no price yet, quiet \(words)"
            self.isAged = true
        case .refused(.noSuchSymbol, _):
            self.forms = ["\(mark) NO SUCH SYMBOL", "\(mark)NO SUCH SYMBOL", "\(mark)NO SYM", "!"]
            self.sentence = "no such symbol"
        case .refused(.notPermitted, _):
            self.forms = ["\(mark) NOT PERMITTED", "\(mark)NOT PERMITTED", "\(mark)NO PERM", "!"]
            self.sentence = "not permitted on this plan"
        case .refused(.overLimit, _):
            self.forms = ["\(mark) OVER THE LIMIT", "\(mark)OVER THE LIMIT", "\(mark)LIMIT", "!"]
            self.sentence = "over the limit of symbols"
        }
    }
}
