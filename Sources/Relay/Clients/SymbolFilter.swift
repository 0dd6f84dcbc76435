/// The symbols that a session wants.
struct SymbolFilter: Hashable {
    /// Whether it means all symbols except `symbols`; otherwise it means these.
    var isEverything = false
    var symbols: Set<String>

    static let nothing = SymbolFilter(symbols: [])

    var isEmpty: Bool { !self.isEverything && self.symbols.isEmpty }
}
