import Market

/// The prompt and its suggestions.
extension DisplayView {
    /// Draws the prompt at the bottom of the lines, with its suggestions below; returns the first line that it took.
    mutating func drawPrompt(_ prompt: DisplayPrompt, lines: Range<Int>) -> Int {
        let message = prompt.message.map {
            ScreenText.lines($0, columns: self.grid.size.columns, most: lines.count >= 8 ? 3 : 1, glyphs: self.glyphs)
        }
        let fixed = 1 + (lines.count >= 4 ? 1 : 0)
        let wanted = fixed + prompt.suggestions.count + (message?.count ?? 0)
        let most = lines.count >= 3 ? lines.count - 1 : lines.count
        let top = lines.upperBound - min(wanted, most)
        var row = top
        if fixed == 2, top + 1 < lines.upperBound {
            self.drawRule(row: row)
            row += 1
        }
        self.drawPromptLine(prompt, row: row)
        row += 1
        for line in message ?? [] where row < lines.upperBound {
            self.put(line, CellStyle(.warning), row: row)
            row += 1
        }
        self.drawSuggestions(prompt, lines: row..<max(row, lines.upperBound))
        return top
    }

    /// Draws the title and the text with its caret, which is always visible.
    mutating func drawPromptLine(_ prompt: DisplayPrompt, row: Int) {
        let columns = self.grid.size.columns
        var column = 0
        if columns >= 20 {
            let title = ScreenText.clean(prompt.title, columns: columns / 2, glyphs: self.glyphs)
            column += self.put("\(title): ", CellStyle(.accent, .bold), row: row)
        }
        let caret = min(max(prompt.caret, 0), prompt.text.count)
        let before = ScreenText.units(String(prompt.text.prefix(caret)), columns: 4_096, glyphs: self.glyphs)
        let room = max(columns - column - 1, 0)
        // The end of the text before the caret, as far as it fits.
        var shown = before[...]
        var width = before.reduce(0) { $0 + $1.width }
        while width > room, let first = shown.popFirst() { width -= first.width }
        column += self.put(shown.map(\.text).joined(), row: row, column: column)
        let rest = String(prompt.text.dropFirst(caret))
        let after = ScreenText.units(rest, columns: max(columns - column, 0), glyphs: self.glyphs)
        self.put(after.first?.text ?? " ", CellStyle(.plain, .reversed), row: row, column: column)
        column += after.first?.width ?? 1
        self.put(after.dropFirst().map(\.text).joined(), row: row, column: column)
    }

    private mutating func drawSuggestions(_ prompt: DisplayPrompt, lines: Range<Int>) {
        guard !lines.isEmpty, !prompt.suggestions.isEmpty else { return }
        let columns = self.grid.size.columns
        let first = max(0, (prompt.chosen ?? 0) - lines.count + 1)
        let shown = prompt.suggestions.enumerated().dropFirst(first).prefix(lines.count)
        let widest = shown.map { ScreenText.width(of: $0.element.text, limit: columns, glyphs: self.glyphs) }.max() ?? 0
        for (line, (index, suggestion)) in shown.enumerated() {
            let isChosen = index == prompt.chosen
            let mark = isChosen ? self.glyphs.pointer : " "
            let row = lines.lowerBound + line
            self.put("\(mark)\(suggestion.text)", isChosen ? CellStyle(.accent, .bold) : .plain, row: row)
            guard columns - widest - 3 >= 8 else { continue }
            self.put(suggestion.note, .dimmed, row: row, column: widest + 3)
        }
    }
}
