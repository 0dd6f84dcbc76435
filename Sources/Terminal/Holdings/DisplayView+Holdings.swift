import Market

/// Groups as tabs, and the sums of holdings.
extension DisplayView {
    private var amounts: AmountText { AmountText(look: self.look, isHidden: self.choice.hidesAmounts) }

    /// Returns the texts of a symbol's holdings; `nil` without holdings or without a price.
    func worth(of symbol: String) -> WorthText? {
        guard let portfolio, let worth = portfolio.worth(of: symbol) else { return nil }
        let weight = self.wholeValue.flatMap { Portfolio.weight(of: worth, in: $0) }
            .map { self.look.written($0, fractionDigits: 1) + "%" }
        return self.text(of: worth, symbols: [symbol], weight: weight ?? "")
    }

    /// - Parameter symbols: those whose holdings the worth sums up.
    private func text(of worth: Worth, symbols: [String], weight: String = "") -> WorthText {
        // The rates matter as much as the prices.
        let rates = symbols.compactMap { self.state.holdings.lots(of: $0).first?.currency }
            .compactMap(self.state.holdings.rate).map(\.symbol)
        let used = Set(symbols + rates)
        let rows = self.state.rows.filter { used.contains($0.summary.symbol) }
        let spans = Set(
            rows.filter { symbols.contains($0.summary.symbol) }.map { ChangeBase(of: $0, wall: self.now.wall).span }
        )
        return WorthText(
            worth: worth,
            amounts: self.amounts,
            span: spans.map(\.word).sorted().joined(separator: "/"),
            weight: weight,
            isFresh: rows.allSatisfy { self.isFresh($0) }
        )
    }

    // MARK: Groups

    /// Draws the tabs if there are groups and space; returns the remaining lines.
    mutating func drawGroups(lines: Range<Int>) -> Range<Int> {
        guard !self.choice.groups.isEmpty, lines.count >= 4, self.choice.opened == nil else { return lines }
        var column = 0
        for (tab, name) in (["All"] + self.choice.groups.map(\.name)).enumerated() {
            let group = tab == 0 ? nil : tab - 1
            let style = group == self.choice.openGroup ? CellStyle(.accent, [.bold, .reversed]) : .dimmed
            let width = self.put(" \(name) ", style, row: lines.lowerBound, column: column)
            self.note(click: .group(group), row: lines.lowerBound, columns: column..<(column + width))
            column += width + 1
        }
        return (lines.lowerBound + 1)..<lines.upperBound
    }

    // MARK: Sums

    /// Draws the sum of the open tab's holdings in the last line if there is space; returns the remaining lines.
    mutating func drawTotals(lines: Range<Int>) -> Range<Int> {
        guard let portfolio, lines.count >= 4 else { return lines }
        let held = portfolio.holdings.symbols.filter { self.choice.group?.symbols.contains($0) ?? true }
        guard !held.isEmpty else { return lines }
        let priced = held.filter { portfolio.worth(of: $0) != nil }
        let row = lines.upperBound - 1
        var column = 0
        for total in portfolio.totals(of: held) {
            let symbols = priced.filter { portfolio.worth(of: $0)?.currency == total.currency }
            let text = self.text(of: total, symbols: symbols)
            let parts: [(label: String, value: String, style: CellStyle)] = [
                ("value", text.value, text.isFresh ? CellStyle(.plain, .bold) : .dimmed),
                (text.span, text.percentedToday, text.todayStyle), ("profit", text.namedProfit, text.profitStyle),
            ]
            for part in parts {
                let width = part.label.utf8.count + 1 + ScreenText.width(of: part.value, glyphs: self.glyphs)
                guard column + width <= self.grid.size.columns else { break }
                column += self.put(part.label, .dimmed, row: row, column: column) + 1
                column += self.put(part.value, part.style, row: row, column: column) + 3
            }
        }
        let missing = held.count - priced.count
        if missing > 0 {
            self.put("\(missing) of \(held.count) without a price", CellStyle(.warning), row: row, column: column)
        }
        return lines.lowerBound..<row
    }

    /// Returns the facts of a card about the symbol's holdings.
    func worthFacts(_ symbol: String) -> [(label: String, value: String)] {
        guard let text = self.worth(of: symbol) else { return [] }
        return [
            ("holding", text.quantity), ("value", text.value), ("profit", text.namedProfit),
            ("profit \(text.span)", text.today),
        ] + (text.weight.isEmpty ? [] : [("weight", text.weight)])
    }
}
