import Market

/// A set of symbols of one ``SymbolTable`` as bits, so that one batch is compared with many readers' wishes in a few
/// instructions.
struct SymbolSet: Hashable {
    /// 64 symbols a word, without an empty word at the end: equal sets have equal words.
    private var words: [UInt64] = []

    init() {}

    var isEmpty: Bool { self.words.isEmpty }

    func contains(_ symbol: SymbolID) -> Bool {
        let word = Int(symbol.index >> 6)
        return word < self.words.count && self.words[word] & (1 << UInt64(symbol.index & 63)) != 0
    }

    mutating func insert(_ symbol: SymbolID) {
        let word = Int(symbol.index >> 6)
        while self.words.count <= word { self.words.append(0) }
        self.words[word] |= 1 << UInt64(symbol.index & 63)
    }

    func union(_ other: SymbolSet) -> SymbolSet {
        var both = self.words.count < other.words.count ? other : self
        let less = self.words.count < other.words.count ? self : other
        for (index, word) in less.words.enumerated() { both.words[index] |= word }
        return both
    }

    func subtracting(_ other: SymbolSet) -> SymbolSet {
        var rest = self
        for (index, word) in other.words.enumerated() where index < rest.words.count { rest.words[index] &= ~word }
        while rest.words.last == 0 { rest.words.removeLast() }
        return rest
    }

    func intersection(_ other: SymbolSet) -> SymbolSet {
        var both = SymbolSet()
        both.words = zip(self.words, other.words).map { $0 & $1 }
        while both.words.last == 0 { both.words.removeLast() }
        return both
    }
}
