import Market

/// The texts of the errors about a symbol, with Finnhub's wording.
enum SymbolErrors {
    static func invalid(_ symbol: String) -> String { "Invalid symbol \(Self.excerpt(of: symbol))" }

    /// Finnhub does not name the symbol; the relay adds its name, as Finnhub does with `Invalid symbol`.
    static func tooMany(_ symbol: String) -> String {
        "Subscribing to too many symbols: \(Self.excerpt(of: symbol))"
    }

    /// Returns a word of a client as an answer repeats it: whole, or the first ``SymbolName/longest`` bytes without a
    /// scalar that they cut.
    static func excerpt(of name: String) -> String {
        let utf8 = name.utf8
        guard var end = utf8.index(utf8.startIndex, offsetBy: SymbolName.longest, limitedBy: utf8.endIndex) else {
            return name
        }
        while end < utf8.endIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(name.unicodeScalars[..<end])
    }
}
