import Market

/// The screen of one symbol: its price as large as there is room for, what it did, the chart and the tape.
extension DisplayView {
    mutating func drawCard(_ row: DisplayRow, lines: Range<Int>) {
        var line = lines.lowerBound
        let columns = self.grid.size.columns
        let (freshness, ageForms) = self.age(of: row)
        if lines.count >= 3 {
            self.drawSymbol(row.summary.symbol, line: line)
            line += 1
        }
        let left = lines.upperBound - line
        if let big = self.bigPrice(row, lines: left), big.lines.count + 8 <= left {
            self.drawBig(big, row, freshness, ageForms, line: line)
            line += big.lines.count + 1
        } else {
            let items = [
                ScreenItem(self.priceForms(row), self.priceStyle(row, freshness)),
                ScreenItem(self.changeForms(row), self.changeStyle(row, freshness)),
                ScreenItem(ageForms, freshness.style),
            ]
            let wishes = [items[2].shortest(2)] + items[0].all(0) + items[2].all(2) + items[1].all(1)
            let chosen = self.place(items, wishes: wishes, row: line, gap: 2)
            if let form = chosen[0], form < 3 { self.flashText(of: row, freshness, line: line, column: 0) }
            line += 1
            if lines.count >= 6, !self.changeItems(row, freshness).isEmpty {
                self.drawChanges(row, freshness, line: line, column: 0)
                line += 1
            }
        }
        let rest = lines.upperBound - line
        let wanted = rest >= 12 ? 2 : (rest >= 5 ? 1 : (rest >= 4 ? 1 : rest))
        let used = self.flow(self.facts(row), lines: line..<(line + min(wanted, rest)))
        line += used
        guard lines.upperBound - line >= 3 else {
            // No room for a chart: more facts are better than nothing.
            _ = self.flow(self.facts(row), lines: (line - used)..<lines.upperBound)
            return
        }
        if lines.upperBound - line >= 10 { line += 1 }
        self.drawHistory(row, freshness, lines: line..<lines.upperBound, columns: columns)
    }

    /// Draws the chart with the tape beside it, or below it where the screen is narrow.
    mutating func drawHistory(_ row: DisplayRow, _ freshness: Freshness, lines: Range<Int>, columns: Int) {
        let tapeWidth = 46
        if columns >= 110, lines.count >= 5 {
            self.drawChart(row, freshness, lines: lines, columns: columns - tapeWidth - 3)
            self.drawTape(row, lines: lines, column: columns - tapeWidth, columns: tapeWidth)
            return
        }
        let tapeLines = lines.count >= 20 ? lines.count / 3 : (lines.count >= 11 ? 4 : (lines.count >= 9 ? 2 : 0))
        let split = lines.upperBound - tapeLines
        self.drawChart(row, freshness, lines: lines.lowerBound..<split, columns: columns)
        if tapeLines > 0 { self.drawTape(row, lines: split..<lines.upperBound, column: 0, columns: columns) }
    }

    /// Draws the card of a symbol that has no price.
    mutating func drawWaitingCard(_ symbol: String, lines: Range<Int>) {
        self.drawSymbol(symbol, line: lines.lowerBound)
        let (text, style) = self.waitingWords(symbol, room: self.grid.size.columns)
        self.grid.put(text, row: lines.lowerBound + 1, column: 0, style: style, glyphs: self.glyphs)
    }

    private mutating func drawSymbol(_ symbol: String, line: Int) {
        let item = ScreenItem(Self.symbolForms(symbol), CellStyle(.accent, .bold))
        let all = DisplayListing.symbols(of: self.state, choice: self.choice, now: self.now)
        let place = all.firstIndex(of: symbol).map { "\($0 + 1) of \(all.count)" } ?? ""
        let items = [item, ScreenItem(all.count > 1 ? [place] : [], .dimmed)]
        self.place(items, wishes: item.all(0) + [(1, 0)], row: line, gap: 2)
    }

    // MARK: The large price

    private func bigPrice(_ row: DisplayRow, lines: Int) -> BigDigits? {
        guard self.glyphs == .unicode else { return nil }
        let columns = self.grid.size.columns
        let text = self.price(row)
        if lines >= 26, columns >= 110, let big = BigDigits(text, size: .large), big.width + 34 <= columns {
            return big
        }
        guard let big = BigDigits(text, size: .small), big.width + 24 <= columns else { return nil }
        return big
    }

    private mutating func drawBig(
        _ big: BigDigits,
        _ row: DisplayRow,
        _ freshness: Freshness,
        _ ageForms: [String],
        line: Int
    ) {
        let style = self.priceStyle(row, freshness)
        for (index, text) in big.lines.enumerated() {
            self.grid.put(text, row: line + index, column: 0, style: style, glyphs: self.glyphs)
        }
        if let from = self.flash(of: row, freshness), from < big.places.count {
            let columns = big.places[from].lowerBound..<big.width
            for index in big.lines.indices { self.grid.add(.flash, row: line + index, columns: columns) }
        }
        let column = big.width + 3
        let facts = line + max(0, big.lines.count - 3)
        // Of a relay's session nobody knows when it began.
        let since = row.history.sessionStart.map { "since \(UTCText.timeOfDay($0)) UTC" } ?? ""
        let items = [ScreenItem(self.changeForms(row), self.changeStyle(row, freshness)), ScreenItem([since], .dimmed)]
        self.place(items, wishes: items[0].all(0) + [(1, 0)], row: facts, column: column, gap: 2)
        self.drawChanges(row, freshness, line: facts + 1, column: column)
        let age = ScreenItem(ageForms, freshness.style)
        let arrow = ScreenItem(row.direction == .none ? [] : [self.arrow(row.direction)], style)
        self.place([arrow, age], wishes: age.all(1) + arrow.all(0), row: facts + 2, column: column, gap: 1)
    }

    /// Lets the digits of a price that begins at `column` stand out where they have just changed.
    mutating func flashText(of row: DisplayRow, _ freshness: Freshness, line: Int, column: Int) {
        guard let from = self.flash(of: row, freshness) else { return }
        self.grid.add(.flash, row: line, columns: (column + from)..<(column + self.price(row).count))
    }

    // MARK: Changes

    /// The changes over a minute, five and an hour, as far as they are known.
    private mutating func changeItems(_ row: DisplayRow, _ freshness: Freshness) -> [(String, String, CellStyle)] {
        // Without a price of now there is no change to now.
        guard freshness != .old else { return [] }
        let now = self.marketTime
        var items: [(String, String, CellStyle)] = []
        for span in [ChartSpan.minute, .fiveMinutes, .hour] {
            guard let length = span.length, let before = row.history.price(at: now - length),
                let percent = PriceText.percent(row.summary.price, since: before)
            else { continue }
            let ink: CellStyle.Ink =
                row.summary.price == before ? .plain : (row.summary.price > before ? .rising : .falling)
            let style = freshness == .fresh ? CellStyle(ink) : .dimmed
            items.append((span.word, self.written(percent), style))
        }
        if !items.isEmpty { self.note(changeIn: 1_000_000_000) }
        return items
    }

    private mutating func drawChanges(_ row: DisplayRow, _ freshness: Freshness, line: Int, column: Int) {
        var column = column
        for (word, percent, style) in self.changeItems(row, freshness) {
            guard column + word.count + 1 + percent.count <= self.grid.size.columns else { return }
            column += self.grid.put(word, row: line, column: column, style: .dimmed) + 1
            // A sign more or less does not move what follows.
            column += max(self.grid.put(percent, row: line, column: column, style: style), 6) + 3
        }
    }

    /// The change since the session's start, absolute and in percent; as far as it can be said.
    func changeForms(_ row: DisplayRow) -> [String] {
        let summary = row.summary
        let change = PriceText.change(summary.price, since: summary.open, fractionDigits: row.fractionDigits)
            .map(self.written)
        let percent = PriceText.percent(summary.price, since: summary.open).map(self.written)
        return switch (change, percent) {
        case (.some(let change), .some(let percent)): ["\(change) (\(percent))", "\(change) \(percent)", percent]
        case (.some(let change), .none): [change]
        case (.none, .some(let percent)): [percent]
        case (.none, .none): []
        }
    }

    // MARK: Facts

    /// Fills lines with facts, as many as fit, and gives how many lines; a fact that is wider than the screen is left out.
    private mutating func flow(_ facts: [(label: String, value: String)], lines: Range<Int>) -> Int {
        var line = lines.lowerBound
        var column = 0
        let columns = self.grid.size.columns
        guard !lines.isEmpty else { return 0 }
        for fact in facts {
            let valueWidth = ScreenText.width(of: fact.value, limit: columns + 1, glyphs: self.glyphs)
            let width = fact.label.utf8.count + 1 + valueWidth
            guard width <= columns else { continue }
            if column > 0, column + width > columns {
                guard line + 1 < lines.upperBound else { continue }
                line += 1
                column = 0
            }
            column += self.grid.put(fact.label, row: line, column: column, style: .dimmed, glyphs: self.glyphs) + 1
            column += self.grid.put(fact.value, row: line, column: column, glyphs: self.glyphs) + 3
        }
        return column > 0 ? line + 1 - lines.lowerBound : 0
    }

    private mutating func facts(_ row: DisplayRow) -> [(label: String, value: String)] {
        let summary = row.summary
        var facts = [("high", self.price(summary.high, row)), ("low", self.price(summary.low, row))]
        if let rate = self.rate(of: row) { facts.append(("trades/s", self.written(rate))) }
        facts += [
            ("volume", self.written(PriceText.shortened(summary.volume))),
            ("open", self.price(summary.open, row)),
            ("size", self.written(PriceText.exact(summary.size))),
            ("trades", self.written("\(summary.trades)")),
        ]
        return facts
    }
}
