import Market

/// The symbols last reported as quiet or refused, to detect changes.
///
/// A subscription and its success need no report, since prices show them.
struct ReportedSymbolStates: Sendable {
    /// The word reported for each symbol. Bounded by the number of symbols that a feed can have.
    private var words: [String: String] = [:]

    /// Takes the status of a symbol; returns whether trouble begins that was not reported, or reported trouble ends.
    mutating func isNews(_ status: SymbolStatus) -> Bool {
        switch status.state {
        case .asked: return false
        case .live: return self.words.removeValue(forKey: status.symbol) != nil
        case .quiet, .refused:
            // Another attempt with the same failure is no change.
            guard self.words[status.symbol] != status.word else { return false }
            if self.words.count < SymbolTable.capacity { self.words[status.symbol] = status.word }
            return true
        }
    }

    mutating func forget(_ symbol: String) { self.words[symbol] = nil }
}
