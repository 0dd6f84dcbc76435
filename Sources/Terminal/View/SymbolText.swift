import Market

/// The description of a problem with one symbol; `nil` without a problem.
struct SymbolText {
    /// For the column of ages, longest first.
    var forms: [String]
    /// For a symbol without a price, longest first. The longer ones have the full name, since a column may truncate it,
    /// and the probable name; the shortest has neither.
    var sentences: [String]
    /// The same beside the full name, without it.
    var unnamed: [String]
    /// Whether the words include an age.
    var isAged = false

    /// - Parameter age: the age of the symbol's price, or without a price the time in this state; ns.
    init?(_ status: SymbolStatus?, age: Int64, glyphs: ScreenGlyphs) {
        guard let status else { return nil }
        let mark = Freshness.old.mark(glyphs)
        switch status.state {
        case .asked, .live:
            return nil
        case .quiet:
            let words = AgeText.words(age)
            self.forms = ["\(mark) QUIET \(words)", "\(mark)QUIET \(words)", "\(mark)QUIET", "!"]
            self.sentences = ["no price yet, quiet \(words)"]
            self.unnamed = self.sentences
            self.isAged = true
        case .refused(.noSuchSymbol, _):
            self.forms = ["\(mark) NO SUCH SYMBOL", "\(mark)NO SUCH SYMBOL", "\(mark)NO SYM", "!"]
            (self.sentences, self.unnamed) = Self.sentences(status, "no such symbol")
        case .refused(.notPermitted, _):
            self.forms = ["\(mark) NOT PERMITTED", "\(mark)NOT PERMITTED", "\(mark)NO PERM", "!"]
            (self.sentences, self.unnamed) = Self.sentences(status, "not permitted on this plan")
        case .refused(.overLimit, _):
            self.forms = ["\(mark) OVER THE LIMIT", "\(mark)OVER THE LIMIT", "\(mark)LIMIT", "!"]
            (self.sentences, self.unnamed) = Self.sentences(status, "over the limit of symbols")
        }
    }

    private static func sentences(_ status: SymbolStatus, _ words: String) -> (named: [String], unnamed: [String]) {
        let named = "\(ScreenText.clean(status.symbol, columns: 128)): \(words)"
        let hint = Self.hint(status)
        return (["\(named)\(hint)", named, words], ["\(words)\(hint)", words])
    }

    /// Returns a symbol's name, longest form first.
    static func names(of symbol: String) -> [String] {
        let name = SymbolName.withoutExchange(symbol)
        return [symbol, name, ScreenText.clean(name, columns: 6)]
    }

    /// Returns `; did you mean BINANCE:BTCUSDT?` for an unknown symbol that resembles a known one; else an empty text.
    static func hint(_ status: SymbolStatus) -> String {
        status.meant.map { "; did you mean \($0)?" } ?? ""
    }

    /// Returns the reason for a symbol's refusal, in the service's words if it gave any.
    static func refusal(_ status: SymbolStatus) -> String {
        (status.reason.map { ScreenText.clean($0, columns: 256) } ?? status.word) + Self.hint(status)
    }
}
