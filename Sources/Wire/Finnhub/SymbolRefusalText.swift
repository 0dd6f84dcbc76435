package import Market

/// What the service's words for a refused symbol mean (reference, section 1.5).
package struct SymbolRefusalText: Equatable {
    package var kind: SymbolStatus.Refusal
    /// The symbol, where the words name it. Older ones do not, and those about too many symbols never did.
    package var symbol: String?

    /// Reads an error's text; `nil` when it is about something else.
    package init?(_ text: String) {
        let words = text.lowercased()
        if words.hasPrefix("invalid symbol") {
            self.kind = .noSuchSymbol
            let rest = text.dropFirst("invalid symbol".count).drop { $0 == " " || $0 == ":" }
            self.symbol = rest.isEmpty ? nil : String(rest)
        } else if words.contains("too many symbols") {
            self.kind = .overLimit
            // A relay of ours names it behind a colon.
            let parts = text.split(separator: ": ", maxSplits: 1)
            self.symbol = parts.count == 2 ? String(parts[1]) : nil
        } else if words.contains("have access") || words.contains("not permitted") || words.contains("permission") {
            self.kind = .notPermitted
            self.symbol = nil
        } else {
            return nil
        }
    }
}
