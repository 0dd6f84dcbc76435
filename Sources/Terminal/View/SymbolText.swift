import Market

/// What is wrong with one symbol in words; nothing where nothing is.
struct SymbolText {
    /// For the column of ages, longest first.
    var forms: [String]
    /// For a symbol without a price, longest first: with the whole name, of which a column shows as much as tells it from the
    /// others, and with what was probably meant; the shortest without either.
    var sentences: [String]
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
            self.sentences = ["no price yet, quiet \(words)"]
            self.isAged = true
        case .refused(.noSuchSymbol, _):
            self.forms = ["\(mark) NO SUCH SYMBOL", "\(mark)NO SUCH SYMBOL", "\(mark)NO SYM", "!"]
            self.sentences = Self.sentences(status, "no such symbol")
        case .refused(.notPermitted, _):
            self.forms = ["\(mark) NOT PERMITTED", "\(mark)NOT PERMITTED", "\(mark)NO PERM", "!"]
            self.sentences = Self.sentences(status, "not permitted on this plan")
        case .refused(.overLimit, _):
            self.forms = ["\(mark) OVER THE LIMIT", "\(mark)OVER THE LIMIT", "\(mark)LIMIT", "!"]
            self.sentences = Self.sentences(status, "over the limit of symbols")
        }
    }

    private static func sentences(_ status: SymbolStatus, _ words: String) -> [String] {
        let named = "\(ScreenText.clean(status.symbol, columns: 128)): \(words)"
        return ["\(named)\(Self.hint(status))", named, words]
    }

    /// A symbol without its exchange: `BINANCE:BTCUSDT` is `BTCUSDT`.
    static func withoutExchange(_ symbol: String) -> String {
        guard let colon = symbol.firstIndex(of: ":") else { return symbol }
        let name = symbol[symbol.index(after: colon)...]
        return name.isEmpty ? symbol : String(name)
    }

    /// A symbol's name, longest form first.
    static func names(of symbol: String) -> [String] {
        let name = Self.withoutExchange(symbol)
        return [symbol, name, ScreenText.clean(name, columns: 6)]
    }

    /// `; did you mean BINANCE:BTCUSDT?`, where the service does not know a symbol that is like one that it may know.
    static func hint(_ status: SymbolStatus) -> String {
        guard case .refused(.noSuchSymbol, _) = status.state, let meant = SymbolHint.meant(by: status.symbol) else {
            return ""
        }
        return "; did you mean \(meant)?"
    }

    /// Why a symbol does not come that is refused, in the service's words where it has some.
    static func refusal(_ status: SymbolStatus) -> String {
        (status.reason.map { ScreenText.clean($0, columns: 256) } ?? status.word) + Self.hint(status)
    }
}
