import Market

/// The symbols that were last reported as quiet or refused: what of their states is news.
///
/// That a symbol was asked for and came is seen by its prices.
struct ReportedSymbolStates: Sendable {
    /// With the word that was reported; the feed has no more symbols than are kept.
    private var words: [String: String] = [:]

    /// Takes the state of a symbol; says whether it is trouble that was not reported, or the end of one that was.
    mutating func isNews(_ status: SymbolStatus) -> Bool {
        switch status.state {
        case .asked: return false
        case .live: return self.words.removeValue(forKey: status.symbol) != nil
        case .quiet, .refused:
            // Another attempt that fails alike is no news.
            guard self.words[status.symbol] != status.word else { return false }
            if self.words.count < SymbolTable.capacity { self.words[status.symbol] = status.word }
            return true
        }
    }

    mutating func forget(_ symbol: String) { self.words[symbol] = nil }
}
