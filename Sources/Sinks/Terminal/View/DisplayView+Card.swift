import Market

/// The screens of one symbol: a card of a few lines, or a single line.
extension DisplayView {
    /// Draws everything in the one line there is.
    mutating func drawOnlyLine() {
        let status = self.status
        let words = self.statusWords()
        let row = self.state.rows.first
        var state = LineItem(words.forms, CellStyle(words.ink, .bold))
        var price = LineItem([])
        var symbol = LineItem(self.state.waiting.first.map(Self.symbolForms) ?? [])
        var change = LineItem([])
        if let row {
            let (freshness, forms) = self.age(of: row)
            // While the feed stands the row's own age says more than the word LIVE.
            if status.phase == .live || status.phase == .late {
                state = LineItem(freshness == .fresh ? [forms[1]] : forms, freshness.style)
            }
            price = LineItem(self.priceForms(row), self.priceStyle(row, freshness))
            symbol = LineItem(Self.symbolForms(row.summary.symbol))
            change = LineItem(self.changeForms(row), self.changeStyle(row, freshness))
        }
        let others = self.state.rows.count + self.state.waiting.count - 1
        let items = [
            symbol, price, change, state,
            LineItem(DisplayMarks.source(status.source), CellStyle(.warning, [.bold, .reversed])),
            LineItem(
                DisplayMarks.certificate(isChecked: status.certificateChecked),
                CellStyle(.alarm, [.bold, .reversed])
            ),
            LineItem(others > 0 ? ["+\(others)"] : []),
        ]
        var wishes = [items[4].shortest(4), items[5].shortest(5), items[3].shortest(3)]
        wishes += price.all(1)
        wishes += items[4].shortWord(4) + items[5].shortWord(5)
        wishes += items[3].all(3).filter { $0.form > 0 }
        wishes += [symbol.shortest(0), items[6].shortest(6)] + change.all(2) + symbol.all(0)
        wishes += items[4].all(4) + items[5].all(5) + items[3].all(3)
        self.place(items, wishes: wishes, row: 0, gap: 1)
    }

    /// Draws the one symbol over several lines.
    mutating func drawCard(_ row: DisplayRow, lines: Range<Int>) {
        var line = lines.lowerBound
        let (freshness, ageForms) = self.age(of: row)
        let isRoomy = lines.count >= 6
        let symbol = LineItem(Self.symbolForms(row.summary.symbol), CellStyle(.plain, .bold))
        if lines.count >= 3 {
            self.place([symbol], wishes: symbol.all(0), row: line, gap: 1)
            line += 1
        }
        let items = [
            LineItem(self.priceForms(row), self.priceStyle(row, freshness)),
            LineItem(self.changeForms(row), self.changeStyle(row, freshness)),
            LineItem(ageForms, freshness.style),
        ]
        let wishes = [items[2].shortest(2)] + items[0].all(0) + items[2].all(2) + items[1].all(1)
        self.place(items, wishes: wishes, row: line, gap: 2)
        line += isRoomy ? 2 : 1
        self.flow(self.facts(row), lines: line..<lines.upperBound)
    }

    /// Fills lines with facts, as many as fit; one that is wider than the screen is left out.
    private mutating func flow(_ facts: [(label: String, value: String)], lines: Range<Int>) {
        var line = lines.lowerBound
        var column = 0
        let columns = self.grid.size.columns
        for fact in facts {
            let valueWidth = ScreenText.width(of: fact.value, limit: columns + 1, glyphs: self.glyphs)
            let width = fact.label.utf8.count + 1 + valueWidth
            guard width <= columns else { continue }
            if column > 0, column + width > columns {
                line += 1
                column = 0
            }
            guard line < lines.upperBound else { return }
            column += self.grid.put(fact.label, row: line, column: column, style: .dimmed, glyphs: self.glyphs) + 1
            column += self.grid.put(fact.value, row: line, column: column, glyphs: self.glyphs) + 3
        }
    }

    private mutating func facts(_ row: DisplayRow) -> [(label: String, value: String)] {
        let summary = row.summary
        let digits = row.fractionDigits
        var facts = [
            ("high", PriceText.exact(summary.high, fractionDigits: digits)),
            ("low", PriceText.exact(summary.low, fractionDigits: digits)),
        ]
        if let rate = self.rate(of: row) { facts.append(("trades/s", rate)) }
        facts += [
            ("volume", PriceText.shortened(summary.volume)),
            ("open", PriceText.exact(summary.open, fractionDigits: digits)),
            ("size", PriceText.exact(summary.size)),
            ("trades", "\(summary.trades)"),
        ]
        return facts
    }

    /// The change since the session's start, absolute and in percent; as far as it can be said.
    func changeForms(_ row: DisplayRow) -> [String] {
        let summary = row.summary
        let change = PriceText.change(summary.price, since: summary.open, fractionDigits: row.fractionDigits)
        let percent = PriceText.percent(summary.price, since: summary.open)
        return switch (change, percent) {
        case (.some(let change), .some(let percent)): ["\(change) (\(percent))", "\(change) \(percent)", percent]
        case (.some(let change), .none): [change]
        case (.none, .some(let percent)): [percent]
        case (.none, .none): []
        }
    }

    static func symbolForms(_ symbol: String) -> [String] {
        let name = Self.withoutExchange(symbol)
        return [symbol, name, ScreenText.clean(name, columns: 6)]
    }
}
