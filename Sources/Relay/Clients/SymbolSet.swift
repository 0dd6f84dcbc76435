import Market
import Wire

/// A set of symbols of one ``SymbolTable``, as bits.
///
/// One batch is compared with many readers' subscriptions in a few instructions. The first 64 symbols need no
/// allocation; a connection to Finnhub has fewer.
struct SymbolSet: Hashable {
    private var low: UInt64 = 0
    /// The other symbols, 64 per word, without an empty word at the end, so that equal sets have equal words.
    private var words: [UInt64] = []

    init() {}

    /// Makes the set of the symbols of some batches' trades.
    init(of batches: ArraySlice<TapeBatch>) {
        var last: SymbolID?
        // By index: a batch is many words and references, and each copy of one costs measurable time.
        for index in batches.indices {
            for trade in batches[index].trades where trade.symbol != last {
                self.insert(trade.symbol)
                last = trade.symbol
            }
        }
    }

    var isEmpty: Bool { self.low == 0 && self.words.isEmpty }

    func contains(_ symbol: SymbolID) -> Bool {
        let bit: UInt64 = 1 << UInt64(symbol.index & 63)
        guard symbol.index > 63 else { return self.low & bit != 0 }
        let word = Int(symbol.index >> 6) - 1
        return word < self.words.count && self.words[word] & bit != 0
    }

    mutating func insert(_ symbol: SymbolID) {
        let bit: UInt64 = 1 << UInt64(symbol.index & 63)
        guard symbol.index > 63 else {
            self.low |= bit
            return
        }
        let word = Int(symbol.index >> 6) - 1
        while self.words.count <= word { self.words.append(0) }
        self.words[word] |= bit
    }

    func union(_ other: SymbolSet) -> SymbolSet {
        var both = self.words.count < other.words.count ? other : self
        let less = self.words.count < other.words.count ? self : other
        both.low |= less.low
        for (index, word) in less.words.enumerated() { both.words[index] |= word }
        return both
    }

    func subtracting(_ other: SymbolSet) -> SymbolSet {
        var rest = self
        rest.low &= ~other.low
        for (index, word) in other.words.enumerated() where index < rest.words.count { rest.words[index] &= ~word }
        while rest.words.last == 0 { rest.words.removeLast() }
        return rest
    }

    func intersection(_ other: SymbolSet) -> SymbolSet {
        var both = SymbolSet()
        both.low = self.low & other.low
        guard !self.words.isEmpty, !other.words.isEmpty else { return both }
        both.words = zip(self.words, other.words).map { $0 & $1 }
        while both.words.last == 0 { both.words.removeLast() }
        return both
    }
}
