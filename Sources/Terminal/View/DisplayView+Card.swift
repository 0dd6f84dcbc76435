import Market

/// The screen of one symbol: its price in large digits if they fit, its changes, the chart and the tape.
extension DisplayView {
    mutating func drawCard(_ row: DisplayRow, lines: Range<Int>) {
        var line = lines.lowerBound
        let text = self.text(of: row)
        if lines.count >= 3 {
            self.drawSymbol(row.summary.symbol, line: line)
            line += 1
        }
        let left = lines.upperBound - line
        if let big = self.bigPrice(text.price, lines: left), big.lines.count + 8 <= left {
            self.drawBig(big, text, line: line)
            line += big.lines.count + 1
        } else {
            let price = ScreenItem(text.prices, text.priceStyle)
            let change = ScreenItem(text.changes, text.changeStyle)
            let age = ScreenItem(text.ages, text.freshness.style)
            let candidates = [age.shortest(2)] + price.all(0) + age.all(2) + change.all(1)
            let chosen = self.place([price, change, age], candidates: candidates, row: line, gap: 2)
            if let form = chosen[0], form < 3 { self.drawFlash(of: text, row: line, column: 0) }
            line += 1
            if lines.count >= 6, self.drawChanges(text, row: line, column: 0) { line += 1 }
        }
        let rest = lines.upperBound - line
        let wanted = rest >= 12 ? 2 : (rest >= 4 ? 1 : rest)
        let facts = self.facts(text)
        let used = self.flow(facts, lines: line..<(line + wanted))
        line += used
        guard lines.upperBound - line >= 3 else {
            // No chart fits, so the facts use its lines.
            _ = self.flow(facts, lines: (line - used)..<lines.upperBound)
            return
        }
        if lines.upperBound - line >= 10 { line += 1 }
        self.drawHistory(text, lines: line..<lines.upperBound)
    }

    /// Draws the chart with the tape beside it, or below it on a narrow screen.
    mutating func drawHistory(_ text: RowText, lines: Range<Int>) {
        let columns = self.grid.size.columns
        let tapeWidth = 46
        if columns >= 110, lines.count >= 5 {
            self.drawChart(text, lines: lines, columns: columns - tapeWidth - 3)
            self.drawTape(text, lines: lines, column: columns - tapeWidth)
            return
        }
        let tapeLines = lines.count >= 20 ? lines.count / 3 : (lines.count >= 11 ? 4 : (lines.count >= 9 ? 2 : 0))
        let split = lines.upperBound - tapeLines
        self.drawChart(text, lines: lines.lowerBound..<split, columns: columns)
        if tapeLines > 0 { self.drawTape(text, lines: split..<lines.upperBound, column: 0) }
    }

    /// Draws the card of a symbol without a price.
    mutating func drawWaitingCard(_ symbol: String, lines: Range<Int>) {
        self.drawSymbol(symbol, line: lines.lowerBound)
        let (text, style) = self.waitingWords(symbol, room: self.grid.size.columns)
        self.put(text, style, row: lines.lowerBound + 1)
    }

    private mutating func drawSymbol(_ symbol: String, line: Int) {
        let item = self.nameItem(symbol)
        let all = DisplayListing.symbols(of: self.state, choice: self.choice, now: self.now)
        let place = all.firstIndex(of: symbol).map { "\($0 + 1) of \(all.count)" } ?? ""
        let note = self.look.notes[symbol]?.text ?? ""
        let notes = ScreenItem(note.isEmpty ? [] : [note] + [40, 20].map { ScreenText.clean(note, columns: $0) })
        let items = [item, ScreenItem(all.count > 1 ? [place] : [], .dimmed), notes]
        self.place(items, candidates: item.all(0) + [(1, 0)] + notes.all(2), row: line, gap: 2)
        if self.choice.opened != nil, all.count > 1 { self.note(click: .back, row: line) }
    }

    /// Returns a symbol's name above its prices.
    func nameItem(_ symbol: String) -> ScreenItem {
        ScreenItem(SymbolText.names(of: symbol), self.look.notes.style(of: symbol, else: CellStyle(.accent, .bold)))
    }

    // MARK: The large price

    private func bigPrice(_ price: String, lines: Int) -> BigDigits? {
        guard self.glyphs == .unicode else { return nil }
        let columns = self.grid.size.columns
        if lines >= 26, columns >= 110, let big = BigDigits(price, size: .large), big.width + 34 <= columns {
            return big
        }
        guard let big = BigDigits(price, size: .small), big.width + 24 <= columns else { return nil }
        return big
    }

    private mutating func drawBig(_ big: BigDigits, _ text: RowText, line: Int) {
        for (index, digits) in big.lines.enumerated() { self.put(digits, text.priceStyle, row: line + index) }
        if let from = self.flash(of: text), from < big.places.count {
            let columns = big.places[from].lowerBound..<big.width
            for index in big.lines.indices { self.grid.add(.flash, row: line + index, columns: columns) }
        }
        let column = big.width + 3
        let facts = line + max(0, big.lines.count - 3)
        // The start of a relay's session is unknown.
        let start = text.base.span == .session ? text.row.history.sessionStart : nil
        let since = start.map { "since \(self.clock.timeOfDay($0)) \(self.clock.label(at: $0))" } ?? ""
        let items = [ScreenItem(text.changes, text.changeStyle), ScreenItem([since], .dimmed)]
        self.place(items, candidates: items[0].all(0) + [(1, 0)], row: facts, column: column, gap: 1)
        self.drawChanges(text, row: facts + 1, column: column)
        let age = ScreenItem(text.ages, text.freshness.style)
        let direction = text.row.direction
        let arrow = ScreenItem(direction == .none ? [] : [self.glyphs.arrow(direction)], text.priceStyle)
        self.place([arrow, age], candidates: age.all(1) + arrow.all(0), row: facts + 2, column: column, gap: 1)
    }

    /// Highlights the digits of a price at `column` that have just changed.
    mutating func drawFlash(of text: RowText, row: Int, column: Int) {
        guard let from = self.flash(of: text) else { return }
        self.grid.add(.flash, row: row, columns: (column + from)..<(column + text.price.count))
    }

    /// Draws the changes over one minute, five minutes and one hour, if they are known; returns whether any is.
    @discardableResult
    private mutating func drawChanges(_ text: RowText, row: Int, column: Int) -> Bool {
        // An old price gives no current change.
        guard text.freshness != .old else { return false }
        let now = self.marketTime
        var column = column
        var isAny = false
        var isFull = false
        for span in [ChartSpan.minute, .fiveMinutes, .hour] {
            guard let length = span.length, let before = text.row.history.price(at: now - length),
                let percent = text.percent(since: before)
            else { continue }
            isAny = true
            isFull = isFull || column + span.word.count + 1 + percent.count > self.grid.size.columns
            guard !isFull else { continue }
            column += self.put(span.word, .dimmed, row: row, column: column) + 1
            // The next column must not move with the sign.
            column += max(self.put(percent, text.style(since: before), row: row, column: column), 6) + 3
        }
        if isAny { self.note(changeIn: 1_000_000_000) }
        return isAny
    }

    // MARK: Facts

    /// Fills lines with as many facts as fit, and returns the number of lines. A fact that is wider than the screen is
    /// omitted.
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
            column += self.put(fact.label, .dimmed, row: line, column: column) + 1
            column += self.put(fact.value, row: line, column: column) + 3
        }
        return column > 0 ? line + 1 - lines.lowerBound : 0
    }

    /// The venue's own figures of the last 24 hours, named apart from the session's. Old figures are left out.
    private mutating func dayFacts(_ text: RowText) -> [(label: String, value: String)] {
        guard let day = text.row.day, let left = day.timeLeft(at: self.now.wall) else { return [] }
        self.note(changeIn: left)
        var facts = [("24h high", text.text(day.high)), ("24h low", text.text(day.low))]
        if let open = day.open { facts = [("24h open", text.text(open))] + facts }
        return facts + [("24h volume", self.look.written(PriceText.shortened(ExactSum(day.volume))))]
    }

    private mutating func facts(_ text: RowText) -> [(label: String, value: String)] {
        var facts = [("high", text.high), ("low", text.low)]
        if let rate = self.rate(of: text.row) { facts.append(("trades/s", self.look.written(rate))) }
        facts += [("volume", text.volume)] + self.worthFacts(text.row.summary.symbol)
        facts += [("open", text.open), ("size", text.size)]
        facts.append(("trades", self.look.written("\(text.row.summary.trades)")))
        return facts + self.dayFacts(text)
    }
}
