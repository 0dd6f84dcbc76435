/// The symbols that the upstream has been asked for or sends already, all readers together.
///
/// It keeps hostile or mistaken wishes away from the upstream: names that can not be symbols, and more symbols than one
/// connection may have. A symbol that only readers wished for gives up its place with the last of them.
struct SymbolLedger {
    enum Answer: Equatable {
        /// The feed has it, or has been asked for it.
        case known
        /// It is to be asked for now.
        case demand
        /// All places are taken.
        case full
        /// No such symbol can exist.
        case invalid
    }

    /// Longest name, in bytes of UTF-8; the longest that Finnhub lists are under 40.
    static let longestName = 64

    private let limit: Int
    /// The feed's own symbols, which are there without any reader.
    private var own: Set<String>
    /// How many readers want each of the others.
    private var readers: [String: Int] = [:]
    /// Symbols given up, of which a trade may still be under way.
    private var givenUp: Set<String> = []

    /// Those of them that the upstream does not send now; they take none of its places.
    private var refusedSymbols: Set<String> = []

    /// How many refused symbols may be asked for beside the others, for each place.
    private static let refusedPerPlace = 4

    /// The most names that are remembered as given up.
    private static let mostGivenUp = 4_096

    init(limit: Int, own: some Sequence<String> = []) {
        self.limit = limit
        self.own = Set(own)
    }

    /// The symbols that the feed is asked for, in order of their names.
    var symbols: [String] { (self.own.union(self.readers.keys)).sorted() }

    /// Whether the feed has the symbol or anybody wants it.
    func holds(_ symbol: String) -> Bool { self.own.contains(symbol) || self.readers[symbol] != nil }

    /// Notes that the feed has the symbol.
    mutating func appeared(_ symbol: String) {
        if self.readers[symbol] == nil, !self.givenUp.contains(symbol) { self.own.insert(symbol) }
    }

    /// Notes that the upstream does not send the symbol: its place is free, though it is still wished for.
    mutating func refused(_ symbol: String) {
        if self.own.contains(symbol) || self.readers[symbol] != nil { self.refusedSymbols.insert(symbol) }
    }

    /// Notes that the upstream refuses the symbol no longer.
    mutating func recovered(_ symbol: String) { self.refusedSymbols.remove(symbol) }

    /// Answers a reader's wish, and takes a place for it if that needs one.
    mutating func wanted(_ symbol: String) -> Answer {
        guard Self.isPlausible(symbol) else { return .invalid }
        if self.own.contains(symbol) { return .known }
        if let count = self.readers[symbol] {
            self.readers[symbol] = count + 1
            return .known
        }
        let all = self.own.count + self.readers.count
        guard all - self.refusedSymbols.count < self.limit, all < self.limit * (1 + Self.refusedPerPlace) else {
            return .full
        }
        self.readers[symbol] = 1
        self.givenUp.remove(symbol)
        return .demand
    }

    /// Takes back one reader's wish that was answered `known` or `demand`; answers whether it was the last, so that the
    /// upstream need not send the symbol any more.
    mutating func unwanted(_ symbol: String) -> Bool {
        guard let count = self.readers[symbol] else { return false }
        guard count == 1 else {
            self.readers[symbol] = count - 1
            return false
        }
        self.readers[symbol] = nil
        self.refusedSymbols.remove(symbol)
        if self.givenUp.count >= Self.mostGivenUp { self.givenUp = [] }
        self.givenUp.insert(symbol)
        return true
    }

    /// Whether the name can be a symbol: not empty, not too long, no control characters. (Spaces exist: `IC MARKETS:1`.)
    static func isPlausible(_ symbol: String) -> Bool {
        !symbol.isEmpty && symbol.utf8.count <= Self.longestName && symbol.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
