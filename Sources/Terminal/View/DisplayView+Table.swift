import Market

/// The screen of several symbols: one line each, with as many columns as fit.
extension DisplayView {
    mutating func drawTable(lines: Range<Int>, hasHeadings: Bool) {
        let order = DisplayListing.rows(of: self.state, choice: self.choice, now: self.now)
        let unpriced = DisplayListing.waiting(of: self.state, choice: self.choice)
        let all = order.count + unpriced.count
        let selected = DisplayListing.selected(of: self.state, choice: self.choice, now: self.now)
        var top = lines.lowerBound
        let lines = self.drawSelected(selected, all: all, lines: self.drawTotals(lines: lines))
        if all == 0, let text = self.choice.narrowing {
            self.put("no symbol here contains \(text)", .dimmed, row: lines.lowerBound)
        } else if all == 0, let group = self.choice.group {
            self.put("no symbol of \(group.name) is followed here", .dimmed, row: lines.lowerBound)
        }
        let showsHeadings = hasHeadings && !self.state.rows.isEmpty && lines.count > 2
        if showsHeadings { top += 1 }
        var room = lines.upperBound - top
        let isCut = all > room && room > 1
        if isCut { room -= 1 }
        let window = self.window(order, unpriced, selected: selected, room: room)
        if isCut { self.drawPosition(window, all: all, row: top + room) }

        let rows = window.filter { $0 < order.count }.map { self.state.rows[order[$0]] }
        let waiting = window.filter { $0 >= order.count }.map { unpriced[$0 - order.count] }
        for (line, symbol) in (rows.map(\.summary.symbol) + waiting).enumerated() {
            self.note(click: .symbol(symbol), row: top + line)
        }
        let marked = all > 1 ? selected : nil
        let contents = self.lines(rows, waiting: waiting, selected: marked)
        let hasChart = rows.contains { $0.history.start != nil }
        let changeSpans = Set(contents.compactMap { $0.text?.base.span })
        var columns = PriceLine.columns(
            isMarked: marked != nil,
            span: hasChart ? self.choice.span : nil,
            changeSpan: changeSpans.count == 1 ? changeSpans.first : nil,
            hasHoldings: contents.contains { $0.worth != nil },
            chosen: self.look.columns
        )
        for index in columns.indices where columns[index].order == self.choice.order {
            columns[index].heading += self.sortArrow
        }
        let width = self.grid.size.columns
        let fitted = self.fit(columns, contents, columns: width, gaps: 1...3, hasHeadings: showsHeadings)
        for place in fitted {
            let column = columns[place.column]
            if showsHeadings {
                let style = column.order == self.choice.order ? CellStyle(.accent, .bold) : .dimmed
                self.put(column.heading, style, in: place, isLeft: column.isLeft, row: top - 1)
                if let order = column.order {
                    self.note(click: .order(order), row: top - 1, columns: place.left..<(place.left + place.width))
                }
            }
            for (line, content) in contents.enumerated() {
                guard line < rows.count || column.name == .symbol else { continue }
                var text = place.texts[line]
                if column.extra == .chart { text = self.sparkline(rows[line], width: text.utf8.count) }
                let start = self.put(text, column.style(content), in: place, isLeft: column.isLeft, row: top + line)
                // The last form is the sign for a price that does not fit.
                if column.extra == .flash, place.form < column.forms.count - 1, let text = content.text {
                    self.drawFlash(of: text, row: top + line, column: start)
                }
            }
            guard column.name == .symbol else { continue }
            for (line, symbol) in waiting.enumerated() {
                // The side of the name with more room.
                let behind = place.left + place.width + place.gap
                let (start, room) = width - behind >= place.left - 1 ? (behind, width - behind) : (0, place.left - 1)
                let name = place.texts[rows.count + line]
                let (text, style) = self.waitingWords(symbol, room: room, isNamed: name.hasSuffix(symbol))
                self.put(text, style, row: top + rows.count + line, column: start, limit: room)
            }
        }
    }

    /// Draws the chart and the tape of the selected symbol below the table, if they fit; returns the remaining lines.
    private mutating func drawSelected(_ selected: String?, all: Int, lines: Range<Int>) -> Range<Int> {
        let left = lines.count - all - 2
        guard left >= 7, let selected,
            let row = self.state.rows.first(where: { $0.summary.symbol == selected }), row.history.start != nil
        else { return lines }
        let top = lines.upperBound - left
        let name = self.nameItem(selected)
        self.place([name], candidates: name.all(0), row: top, gap: 1)
        self.drawHistory(self.text(of: row), lines: (top + 1)..<lines.upperBound)
        return lines.lowerBound..<(top - 1)
    }

    /// Returns the visible part of the list: the page with the selected row.
    private func window(_ order: [Int], _ waiting: [String], selected: String?, room: Int) -> Range<Int> {
        let all = order.count + waiting.count
        guard room > 0 else { return 0..<0 }
        guard all > room else { return 0..<all }
        let place =
            order.firstIndex { self.state.rows[$0].summary.symbol == selected }
            ?? waiting.firstIndex { $0 == selected }.map { $0 + order.count } ?? 0
        let first = min(place / room * room, all - room)
        return first..<(first + room)
    }

    private mutating func drawPosition(_ window: Range<Int>, all: Int, row: Int) {
        let items = [
            ScreenItem(["\(window.lowerBound + 1) to \(window.upperBound) of \(all)", "of \(all)"], .dimmed),
            ScreenItem([window.upperBound < all ? "+\(all - window.upperBound) more" : ""], .dimmed),
        ]
        self.place(items, candidates: items[1].all(1) + items[0].all(0), row: row, gap: 2)
    }

    /// Returns the lines of the rows, then those of the symbols without a price.
    private mutating func lines(_ rows: [DisplayRow], waiting: [String], selected: String?) -> [PriceLine] {
        let symbols = rows.map(\.summary.symbol) + waiting
        let short = symbols.map(SymbolName.withoutExchange)
        let isUnique = Set(short).count == Set(symbols).count
        let whole = self.fittingNames(symbols)
        let brief = isUnique ? self.fittingNames(short) : whole
        return symbols.enumerated().map { index, symbol in
            let isSelected = selected == symbol
            let mark = selected == nil ? "" : isSelected ? self.glyphs.pointer : " "
            let line = PriceLine(
                names: (whole[index], brief[index]),
                short: short[index],
                mark: mark,
                isSelected: isSelected
            )
            line.nameStyle = self.look.notes.style(
                of: symbol,
                else: isSelected ? CellStyle(.accent, .bold) : .plain
            )
            line.note = self.look.notes[symbol]?.text ?? ""
            guard index < rows.count else { return line }
            line.text = self.text(of: rows[index])
            line.worth = self.worth(of: symbol)
            line.rate = self.rate(of: rows[index]).map(self.look.written) ?? ""
            return line
        }
    }

    /// The least width to which a single long name is cut.
    private static let leastName = 15

    /// Returns the names; one that is longer than all others is cut to their width, so that it takes no column from them.
    private func fittingNames(_ names: [String]) -> [String] {
        let widths = names.map { ScreenText.width(of: $0, glyphs: self.glyphs) }
        let ranked = widths.sorted(by: >)
        guard ranked.count >= 2, ranked[0] > max(ranked[1], Self.leastName) else { return names }
        let limit = max(ranked[1], Self.leastName)
        return names.map { ScreenText.clean($0, columns: limit, glyphs: self.glyphs) }
    }

    /// The arrow after the sorted column's heading: down if the largest value is on top.
    private var sortArrow: String {
        let isAscending = self.choice.order == .symbol || self.choice.order == .age
        return isAscending == self.choice.isReversed ? self.glyphs.sign("↓", "v") : self.glyphs.sign("↑", "^")
    }

    /// Returns the chart of a row; empty without samples.
    private mutating func sparkline(_ row: DisplayRow, width: Int) -> String {
        guard let start = row.history.start else { return "" }
        let stretch = self.choice.span.periods(now: self.marketTime, start: start, columns: width)
        return ChartPlot.sparkline(self.samples(of: row, stretch, columns: width), glyphs: self.glyphs)
    }

    // MARK: Columns

    /// A column that fits, in the form that fits.
    struct FittedColumn {
        var column: Int
        var form: Int
        /// The texts of the lines in this form.
        var texts: [String]
        var left: Int
        var width: Int
        /// The number of screen columns between it and the next one.
        var gap: Int
    }

    /// Returns the columns that fit into this width, by their ranks.
    ///
    /// - Parameter gaps: the range of gaps between columns; the widest gap that fits is used.
    func fit<Line>(
        _ table: [TableColumn<Line>],
        _ lines: [Line],
        columns: Int,
        gaps: ClosedRange<Int>,
        hasHeadings: Bool
    ) -> [FittedColumn] {
        var ranked: [(rank: Int, candidate: LineFitter.Candidate)] = []
        for (index, column) in table.enumerated() {
            for (form, width) in column.forms.enumerated() { ranked.append((width.rank, (index, form))) }
            if column.order == self.choice.order {
                ranked.append((TableColumn<Line>.sortedRank, (index, 0)))
            }
        }
        func least(_ candidate: LineFitter.Candidate) -> Int {
            table[candidate.item].minimumWidth(form: candidate.form, hasHeadings: hasHeadings)
        }
        // Formatting is most of a picture's cost: forms that cannot fit are not formatted, and no text is twice.
        var known: [[Int: (texts: [String], width: Int)]] = Array(repeating: [:], count: table.count)
        func width(_ candidate: LineFitter.Candidate) -> Int {
            if let known = known[candidate.item][candidate.form] { return known.width }
            let texts = lines.map(table[candidate.item].forms[candidate.form].text)
            let widest = texts.reduce(0) {
                max($0, ScreenText.width(of: $1, limit: columns + 1, glyphs: self.glyphs))
            }
            let width = widest > 0 || table[candidate.item].isKept ? max(widest, least(candidate)) : 0
            known[candidate.item][candidate.form] = (texts, width)
            return width
        }
        // On a wide screen all columns fit in their widest forms, and no other form is formatted.
        let widest = table.indices.map { index -> (form: Int, width: Int)? in
            let width = width((index, 0))
            return width > 0 ? (0, width) : nil
        }
        let sum = widest.reduce(-gaps.lowerBound) { $0 + ($1.map { $0.width + gaps.lowerBound } ?? 0) }
        let isEmptyOnly = { (index: Int) in table[index].forms.indices.allSatisfy { width((index, $0)) == 0 } }
        let chosen =
            sum <= columns && table.indices.allSatisfy({ widest[$0] != nil || isEmptyOnly($0) })
            ? widest
            : LineFitter(gap: gaps.lowerBound).choose(
                items: table.count,
                candidates: ranked.sorted { $0.rank < $1.rank }.map(\.candidate),
                columns: columns,
                least: least,
                width: width
            )
        let widths = chosen.compactMap { $0?.width }
        let used = widths.reduce(0, +)
        let gap = gaps.last { used + max(0, widths.count - 1) * $0 <= columns } ?? gaps.lowerBound
        var left = 0
        return chosen.enumerated().compactMap { index, chosen in
            guard let (form, width) = chosen else { return nil }
            defer { left += width + gap }
            let texts = known[index][form]?.texts ?? []
            return FittedColumn(column: index, form: form, texts: texts, left: left, width: width, gap: gap)
        }
    }

    /// Writes a text into a column, right-aligned unless it `isLeft`; returns the text's first screen column.
    @discardableResult
    mutating func put(
        _ text: String,
        _ style: CellStyle,
        in place: FittedColumn,
        isLeft: Bool,
        row: Int,
        from left: Int = 0
    ) -> Int {
        let used = ScreenText.width(of: text, limit: place.width, glyphs: self.glyphs)
        let column = left + place.left + (isLeft ? 0 : place.width - used)
        self.put(text, style, row: row, column: column, limit: place.width)
        return column
    }
}
