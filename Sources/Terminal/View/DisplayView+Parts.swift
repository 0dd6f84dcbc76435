import Market

/// The drawing functions that all parts of the screen share.
extension DisplayView {
    /// A text in several lengths, longest first, with its style.
    struct ScreenItem {
        var forms: [String]
        var style: CellStyle

        init(_ forms: [String], _ style: CellStyle = .plain) {
            self.forms = forms
            self.style = style
        }

        /// Returns the candidate for the shortest form, as item number `item`.
        func shortest(_ item: Int) -> LineFitter.Candidate { (item, max(0, self.forms.count - 1)) }

        /// Returns a candidate for every form, shortest first.
        func all(_ item: Int) -> [LineFitter.Candidate] { self.forms.indices.reversed().map { (item, $0) } }

        /// Returns the candidate for the shortest form that is still a word of three letters or more.
        func shortWord(_ item: Int) -> [LineFitter.Candidate] {
            self.forms.lastIndex { $0.utf8.count >= 3 }.map { [(item, $0)] } ?? []
        }
    }

    /// Writes the items that fit, side by side, from `column` on; returns the form of each.
    @discardableResult
    mutating func place(
        _ items: [ScreenItem],
        candidates: [LineFitter.Candidate],
        row: Int,
        column: Int = 0,
        gap: Int
    ) -> [Int?] {
        let columns = self.grid.size.columns - column
        let widths = items.map { $0.forms.map { ScreenText.width(of: $0, limit: columns + 1, glyphs: self.glyphs) } }
        let chosen = LineFitter(gap: gap).choose(widths: widths, candidates: candidates, columns: columns)
        var column = column
        for (item, form) in chosen.enumerated() {
            guard let form else { continue }
            let text = items[item].forms[form]
            column += self.put(text, items[item].style, row: row, column: column) + gap
        }
        return chosen
    }

    /// Writes the part of a text that fits; returns its width.
    @discardableResult
    mutating func put(
        _ text: String,
        _ style: CellStyle = .plain,
        row: Int,
        column: Int = 0,
        limit: Int = .max
    ) -> Int {
        self.grid.put(text, row: row, column: column, limit: limit, style: style, glyphs: self.glyphs)
    }

    /// Draws a line across the screen.
    mutating func drawRule(row: Int) {
        self.put(String(repeating: self.glyphs.rule, count: self.grid.size.columns), CellStyle(.faint), row: row)
    }

    static func count(_ number: some BinaryInteger, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }
}
