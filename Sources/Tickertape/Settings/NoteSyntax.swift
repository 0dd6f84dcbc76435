import Market
import Terminal

extension Settings {
    /// The notes by the symbols' names on the tape; of two about one symbol the first.
    var namedNotes: [String: SymbolNote] {
        Dictionary(self.screen.notes.map { (ChosenSymbol($0.symbol).name, $0) }) { first, _ in first }
    }
}

extension Syntax<SymbolNote> {
    /// `SYMBOL COLOUR WORDS`.
    static var symbolNote: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                let colours = SymbolNote.Tint.allCases.map(\.rawValue).joined(separator: ", ")
                let usage = ParseError(
                    "is not a note; write it like \"BINANCE:BTCUSDT violet the long one\", where the colour is one of \(colours)"
                )
                let words = try SettingWords(text)
                guard words.count >= 2, let tint = SymbolNote.Tint(rawValue: words[1].lowercased()) else { throw usage }
                let symbol = try Syntax<String>.symbol.read(words[0])
                let note = words.dropping(2).joined(separator: " ")
                guard tint != .none || !note.isEmpty else { throw usage }
                guard note.count <= SymbolNote.longestText else {
                    throw ParseError("has a note of \(note.count) characters; it may have \(SymbolNote.longestText)")
                }
                guard ScreenText.clean(note, columns: 4 * SymbolNote.longestText) == note else {
                    throw ParseError("has a character that cannot be printed in its note; leave it out")
                }
                return SymbolNote(symbol: symbol, tint: tint, text: note)
            },
            write: { note in
                let words = note.text.isEmpty ? "" : " \(note.text)"
                return "\(SettingWords.written(note.symbol)) \(note.tint.rawValue)\(words)"
            }
        )
    }
}
