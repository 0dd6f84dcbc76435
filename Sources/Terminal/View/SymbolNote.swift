/// What the person has noted about a symbol: a colour for its name, and words.
package struct SymbolNote: Sendable, Equatable {
    /// The colour of a name: none of those that say something about prices or the feed.
    package enum Tint: String, Sendable, CaseIterable {
        case none
        case violet
        case magenta
        case grey

        var ink: CellStyle.Ink {
            switch self {
            case .none: .plain
            case .violet: .violet
            case .magenta: .magenta
            case .grey: .grey
            }
        }
    }

    /// The longest text, in characters.
    package static let longestText = 80

    package var symbol: String
    package var tint: Tint
    /// Printable; may be empty.
    package var text: String

    package init(symbol: String, tint: Tint, text: String) {
        self.symbol = symbol
        self.tint = tint
        self.text = text
    }
}

extension [String: SymbolNote] {
    /// Returns the style of a symbol's name: the person's colour where there is one, else `style`.
    func style(of symbol: String, else style: CellStyle) -> CellStyle {
        guard let note = self[symbol], note.tint != .none else { return style }
        return CellStyle(note.tint.ink, style.attributes)
    }
}
