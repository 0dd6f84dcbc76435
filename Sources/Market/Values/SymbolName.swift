/// The rule for symbols that can be subscribed, for every source of a symbol.
///
/// Finnhub has names such as `BINANCE:BTCUSDT` and `IC MARKETS:1`, and acknowledges nothing. Anything that may be a
/// name is therefore sent upstream unchanged. Only names that no person means and no screen shows are refused.
package enum SymbolName {
    /// The longest name, in bytes of UTF-8. The longest names that Finnhub lists have fewer than 40.
    package static let longest = 64

    /// The fault of a name.
    package enum Fault: Error, Sendable, Equatable {
        case empty
        /// More than ``longest`` bytes.
        case tooLong
        case blankAtEnd
        /// U+0000 to U+001F, U+007F to U+009F, or a separator of lines or paragraphs.
        case control(Unicode.Scalar)
        /// A character without width, or a mark of the writing direction.
        case unseen(Unicode.Scalar)
        /// U+FFFD, which replaces bytes that are not UTF-8 wherever text is read.
        case notUTF8

        /// The end of a sentence that begins with the symbol.
        package var words: String {
            switch self {
            case .empty: "is empty"
            case .tooLong: "is longer than \(SymbolName.longest) bytes"
            case .blankAtEnd: "begins or ends with a space"
            case .control(let scalar): "has a control character (\(Self.code(scalar)))"
            case .unseen(let scalar): "has an invisible character (\(Self.code(scalar)))"
            case .notUTF8: "is not UTF-8"
            }
        }

        private static func code(_ scalar: Unicode.Scalar) -> String {
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    /// Returns the fault of a name; `nil` if it may be a symbol.
    package static func fault(in name: String) -> Fault? {
        if name.isEmpty { return .empty }
        let scalars = name.unicodeScalars
        for scalar in scalars.prefix(Self.longest) {
            if scalar == "\u{FFFD}" { return .notUTF8 }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: return .control(scalar)
            case .format: return .unseen(scalar)
            default: if scalar.properties.isDefaultIgnorableCodePoint { return .unseen(scalar) }
            }
        }
        if name.utf8.count > Self.longest { return .tooLong }
        if scalars.first?.properties.isWhitespace == true || scalars.last?.properties.isWhitespace == true {
            return .blankAtEnd
        }
        return nil
    }

    /// Returns whether the name may be a symbol.
    package static func isValid(_ name: String) -> Bool { Self.fault(in: name) == nil }

    /// Returns a name as one word of a line: printable and without a space.
    package static func word(_ name: String) -> String {
        String(ScreenText.clean(name, columns: 128).map { $0 == " " ? "_" : $0 })
    }

    /// Returns the part of a symbol after its exchange: `BTCUSDT` for `BINANCE:BTCUSDT`.
    ///
    /// The exchange ends at the first colon. A symbol without a colon, or with nothing after it, is returned whole, so
    /// that only an empty symbol has an empty name.
    package static func withoutExchange(_ symbol: String) -> String {
        guard let colon = symbol.firstIndex(of: ":") else { return symbol }
        let name = symbol[symbol.index(after: colon)...]
        return name.isEmpty ? symbol : String(name)
    }
}
