import Market
import Wire

/// The search in a list of symbols: by ticker, pair, symbol, description, and the names of well-known coins.
struct SymbolSearch: Sendable {
    /// How well an entry matches, the best first.
    private enum Fit: Int, Comparable {
        case exact, coin, beginning, word, inside

        static func < (left: Fit, right: Fit) -> Bool { left.rawValue < right.rawValue }
    }

    private struct Entry {
        var listed: ListedSymbol
        /// These texts are lower-case.
        var symbol: String
        var name: String
        var base: String
        var pair: String
        var words: [String]
        var quoteRank: Int
    }

    /// The longest text that is searched for, in characters.
    private static let longestText = 64
    /// The shortest text that is compared with the names of coins, in letters.
    private static let fewestLetters = 3

    private let entries: [Entry]

    init(_ list: [ListedSymbol]) {
        self.entries = list.map { listed in
            let name = SymbolName.withoutExchange(listed.symbol)
            let parts = listed.displaySymbol.split(separator: "/", maxSplits: 1).map(String.init)
            let isPair = parts.count == 2
            return Entry(
                listed: listed,
                symbol: listed.symbol.lowercased(),
                name: name.lowercased(),
                base: (isPair ? parts[0] : name).lowercased(),
                pair: listed.displaySymbol.lowercased(),
                words: listed.description.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init),
                quoteRank: isPair ? CoinNames.rank(ofQuote: parts[1]) : CoinNames.quotes.count + 1
            )
        }
    }

    /// The number of symbols.
    var count: Int { self.entries.count }

    /// Returns the symbols that match every word of a text, the best first and up to a limit, and the number of all
    /// matches. An empty text matches all.
    ///
    /// - Parameter exchange: the only exchange whose symbols match, in any case of letters; `nil` for all.
    func search(
        _ text: String,
        exchange: String? = nil,
        limit: Int
    ) -> (symbols: [ListedSymbol], matches: Int) {
        let prefix = exchange.map { "\($0.lowercased()):" }
        let text = text.prefix(Self.longestText).lowercased()
        let words = text.split { $0.isWhitespace }.map(String.init)
        let whole = words.joined(separator: " ")
        let coins = Self.coins(whole)
        let coinsByWord = words.map { Self.coins($0) }
        var found: [(fit: Fit, entry: Int)] = []
        for index in self.entries.indices {
            let entry = self.entries[index]
            if let prefix, !entry.symbol.hasPrefix(prefix) { continue }
            let fit = [coins[entry.base], Self.fit(entry, words, coinsByWord)].compactMap(\.self).min()
            if let fit { found.append((fit, index)) }
        }
        found.sort { left, right in
            let (one, other) = (self.entries[left.entry], self.entries[right.entry])
            // Among equal matches a short base stands before a longer one.
            return (left.fit.rawValue, one.quoteRank, one.base.utf8.count, one.symbol)
                < (right.fit.rawValue, other.quoteRank, other.base.utf8.count, other.symbol)
        }
        return (found.prefix(max(limit, 0)).map { self.entries[$0.entry].listed }, found.count)
    }

    /// Returns how well an entry matches all words: the worst of its matches; `nil` if a word does not match.
    private static func fit(_ entry: Entry, _ words: [String], _ coins: [[String: Fit]]) -> Fit? {
        guard !words.isEmpty else { return .inside }
        var worst = Fit.exact
        for (word, coins) in zip(words, coins) {
            guard let fit = Self.fit(entry, word) ?? coins[entry.base] else { return nil }
            worst = max(worst, fit)
        }
        return worst
    }

    private static func fit(_ entry: Entry, _ word: String) -> Fit? {
        if entry.symbol == word || entry.name == word || entry.pair == word { return .exact }
        if entry.base == word { return .coin }
        if entry.base.hasPrefix(word) || entry.name.hasPrefix(word) || entry.pair.hasPrefix(word)
            || entry.symbol.hasPrefix(word)
        {
            return .beginning
        }
        if entry.words.contains(where: { $0.hasPrefix(word) }) { return .word }
        return entry.symbol.contains(word) || entry.pair.contains(word) ? .inside : nil
    }

    /// Returns the lower-case tickers of the coins whose names begin with a text.
    private static func coins(_ text: String) -> [String: Fit] {
        guard text.count >= Self.fewestLetters else { return [:] }
        var coins: [String: Fit] = [:]
        for (name, ticker) in CoinNames.tickers where name.hasPrefix(text) {
            let fit = name == text ? Fit.coin : .beginning
            coins[ticker.lowercased()] = min(coins[ticker.lowercased()] ?? .inside, fit)
        }
        return coins
    }
}
