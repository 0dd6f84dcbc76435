import Market

/// The line that is being typed, and what fits it.
extension DisplayView {
    /// Draws the prompt at the foot of the lines, its suggestions below it; returns the first line that it took.
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
            let rule = self.glyphs == .unicode ? "─" : "-"
            let columns = self.grid.size.columns
            self.grid.put(String(repeating: rule, count: columns), row: row, column: 0, style: CellStyle(.faint))
            row += 1
        }
        self.drawPromptLine(prompt, row: row)
        row += 1
        for line in message ?? [] where row < lines.upperBound {
            self.grid.put(line, row: row, column: 0, style: CellStyle(.warning), glyphs: self.glyphs)
            row += 1
        }
        self.drawSuggestions(prompt, lines: row..<max(row, lines.upperBound))
        return top
    }

    /// Draws the title and the text with its caret, which is always to be seen.
    mutating func drawPromptLine(_ prompt: DisplayPrompt, row: Int) {
        let columns = self.grid.size.columns
        var column = 0
        if columns >= 20 {
            let title = ScreenText.clean(prompt.title, columns: columns / 2, glyphs: self.glyphs)
            column += self.grid.put(
                "\(title): ",
                row: row,
                column: 0,
                style: CellStyle(.accent, .bold),
                glyphs: self.glyphs
            )
        }
        let caret = min(max(prompt.caret, 0), prompt.text.count)
        let before = ScreenText.units(String(prompt.text.prefix(caret)), columns: 4_096, glyphs: self.glyphs)
        let room = max(columns - column - 1, 0)
        // As much of what stands before the caret as fits, from its end.
        var shown = before[...]
        var width = before.reduce(0) { $0 + $1.width }
        while width > room, let first = shown.popFirst() { width -= first.width }
        column += self.grid.put(shown.map(\.text).joined(), row: row, column: column, glyphs: self.glyphs)
        let after = ScreenText.units(
            String(prompt.text.dropFirst(caret)),
            columns: max(columns - column, 0),
            glyphs: self.glyphs
        )
        let under = after.first?.text ?? " "
        self.grid.put(under, row: row, column: column, style: CellStyle(.plain, .reversed), glyphs: self.glyphs)
        column += after.first?.width ?? 1
        self.grid.put(after.dropFirst().map(\.text).joined(), row: row, column: column, glyphs: self.glyphs)
    }

    private mutating func drawSuggestions(_ prompt: DisplayPrompt, lines: Range<Int>) {
        guard !lines.isEmpty, !prompt.suggestions.isEmpty else { return }
        let columns = self.grid.size.columns
        let first = max(0, (prompt.chosen ?? 0) - lines.count + 1)
        let shown = prompt.suggestions.enumerated().dropFirst(first).prefix(lines.count)
        let widest = shown.map { ScreenText.width(of: $0.element.text, limit: columns, glyphs: self.glyphs) }.max() ?? 0
        for (line, (index, suggestion)) in shown.enumerated() {
            let isChosen = index == prompt.chosen
            let mark = isChosen ? (self.glyphs == .unicode ? "▸" : ">") : " "
            let style = isChosen ? CellStyle(.accent, .bold) : .plain
            let row = lines.lowerBound + line
            self.grid.put("\(mark)\(suggestion.text)", row: row, column: 0, style: style, glyphs: self.glyphs)
            let column = widest + 3
            guard columns - column >= 8 else { continue }
            self.grid.put(suggestion.note, row: row, column: column, style: .dimmed, glyphs: self.glyphs)
        }
    }
}
