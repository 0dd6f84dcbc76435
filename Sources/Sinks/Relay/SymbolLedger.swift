/// The symbols that the upstream has been asked for or sends already, all readers together.
///
/// It keeps hostile or mistaken wishes away from the upstream: names that can not be symbols, and more symbols than one
/// connection may have.
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
    private var known: Set<String> = []

    init(limit: Int) { self.limit = limit }

    /// Notes that the feed has the symbol.
    mutating func appeared(_ symbol: String) { self.known.insert(symbol) }

    /// Notes that the upstream does not take the symbol, so that its place is free and it may be asked for again.
    mutating func refused(_ symbol: String) { self.known.remove(symbol) }

    /// Answers a reader's wish, and takes a place for it if that needs one.
    mutating func wanted(_ symbol: String) -> Answer {
        guard Self.isPlausible(symbol) else { return .invalid }
        if self.known.contains(symbol) { return .known }
        guard self.known.count < self.limit else { return .full }
        self.known.insert(symbol)
        return .demand
    }

    /// Whether the name can be a symbol: not empty, not too long, no control characters. (Spaces exist: `IC MARKETS:1`.)
    static func isPlausible(_ symbol: String) -> Bool {
        !symbol.isEmpty && symbol.utf8.count <= Self.longestName && symbol.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
