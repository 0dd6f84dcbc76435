/// The trades that a session wants: their symbols, and the form in which they come.
struct SymbolFilter: Hashable {
    /// Whether it means all symbols except `symbols`; otherwise it means these.
    var isEverything = false
    var symbols: Set<String>
    /// How the messages are framed and serialised.
    var form = MessageForm.text
    /// Whether each message has a position, by which the session can resume.
    var hasPositions = false
    /// Whether filled trades are among those of a session that can leave them out.
    var takesFilled = false

    static let nothing = SymbolFilter(symbols: [])

    var isEmpty: Bool { !self.isEverything && self.symbols.isEmpty }
}
