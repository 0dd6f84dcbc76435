package import Market

/// A service's refusal of a symbol, in the words of no venue.
package struct SymbolRefusal: Sendable, Equatable {
    package var kind: SymbolStatus.Refusal
    /// The symbol, where the service names it.
    package var symbol: String?
    /// The service's own text.
    package var text: String

    package init(_ kind: SymbolStatus.Refusal, symbol: String?, text: String) {
        self.kind = kind
        self.symbol = symbol
        self.text = text
    }
}
