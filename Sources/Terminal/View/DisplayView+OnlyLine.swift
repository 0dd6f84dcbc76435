import Market

/// The screen of a terminal that has one line.
extension DisplayView {
    /// Draws everything in the only line.
    mutating func drawOnlyLine() {
        if case .prompt(let prompt) = self.choice.pane {
            self.drawPromptLine(prompt, row: 0)
            return
        }
        if let alert = self.livingAlert(), self.isNew(alert) {
            self.drawAlert(alert, row: 0)
            return
        }
        let status = self.status
        let words = self.statusWords()
        let wanted = self.choice.opened ?? self.choice.selected
        let waiting =
            self.state.waiting.first { $0 == wanted } ?? (self.state.rows.isEmpty ? self.state.waiting.first : nil)
        let row = waiting != nil ? nil : self.state.rows.first { $0.summary.symbol == wanted } ?? self.state.rows.first
        var state = ScreenItem(words.forms, CellStyle(words.ink, .bold))
        var price = ScreenItem([])
        var symbol = ScreenItem(waiting.map(self.waitingForms) ?? [])
        var change = ScreenItem([])
        if let waiting, status.phase == .live || status.phase == .late {
            // Without a price, the line gives the reason.
            let (text, style) = self.waitingWords(waiting)
            let short =
                SymbolText(self.state.symbolStates[waiting], age: 0, glyphs: self.glyphs)?.forms.dropFirst(2) ?? ["-"]
            state = ScreenItem([text] + short, style)
        } else if let row {
            let text = self.text(of: row)
            // While the feed is connected, the row's age says more than the word LIVE.
            if status.phase == .live || status.phase == .late {
                state = ScreenItem(text.freshness == .fresh ? [text.ages[1]] : text.ages, text.freshness.style)
            } else if status.phase == .ended, status.source != .live {
                // The source mark already says so.
                state = ScreenItem([])
            }
            price = ScreenItem(text.prices, text.priceStyle)
            let name = row.summary.symbol
            symbol = ScreenItem(SymbolText.names(of: name), self.look.notes.style(of: name, else: .plain))
            change = ScreenItem(text.changes, text.changeStyle)
        }
        let others = self.state.rows.count + self.state.waiting.count - 1
        let items = [
            symbol, price, change, state, self.sourceMark(isAlone: true), self.certificateMark(), self.frozenMark(),
            ScreenItem(others > 0 ? ["+\(others)"] : []), self.recordingItem,
        ]
        let marks = 4...6
        var candidates = marks.map { items[$0].shortest($0) }
        // The replay mark has priority over the age.
        if status.source != .live, [.live, .ended].contains(status.phase), row != nil {
            candidates += [(1, 2)] + items[4].shortWord(4)
        }
        candidates += [items[3].shortest(3)]
        if waiting != nil {
            // A line without a price needs the symbol's name.
            candidates += [symbol.shortest(0)] + items[3].all(3)
            candidates += marks.flatMap { items[$0].shortWord($0) }
        } else {
            candidates += price.all(1)
            candidates += marks.flatMap { items[$0].shortWord($0) }
            candidates += items[3].all(3).filter { $0.form > 0 }
        }
        candidates += [symbol.shortest(0), items[8].shortest(8), items[7].shortest(7)] + change.all(2) + symbol.all(0)
        candidates += marks.flatMap { items[$0].all($0) }
        if waiting == nil { candidates += items[3].all(3) }
        self.place(items, candidates: candidates, row: 0, gap: 1)
    }

    /// Returns the forms of a symbol without a price. A refused symbol shows its full name only, if it fits beside a
    /// mark, since the exchange may be the mistake.
    private func waitingForms(_ symbol: String) -> [String] {
        let room = self.grid.size.columns - 2
        guard self.state.symbolStates[symbol]?.isRefused == true,
            ScreenText.width(of: symbol, limit: room + 1, glyphs: self.glyphs) <= room
        else { return SymbolText.names(of: symbol) }
        return [symbol]
    }
}
