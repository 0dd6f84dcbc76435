import Market

/// The screen of several symbols: one line each, and as many columns as fit.
extension DisplayView {
    /// A column in several forms, widest first; each form has one text a line.
    private struct Column {
        var heading: String
        var forms: [[String]]
        var styles: [CellStyle]
        var isLeft = false
        /// The least width of the widest form, so that the table does not jump with every digit.
        var calmWidth = 0

        func widths(hasHeadings: Bool, limit: Int, glyphs: ScreenGlyphs) -> [Int] {
            self.forms.enumerated().map { form, texts in
                let widest = texts.map { ScreenText.width(of: $0, limit: limit, glyphs: glyphs) }.max() ?? 0
                guard widest > 0 else { return 0 }
                return max(widest, form == 0 ? self.calmWidth : 0, hasHeadings && form == 0 ? self.heading.count : 0)
            }
        }
    }

    /// The columns by their places, left to right.
    private enum Place: Int {
        case symbol, price, age, change, percent, chart, high, low, rate, volume, skipped, size, trades, open
    }

    mutating func drawTable(lines: Range<Int>, hasHeadings: Bool) {
        let order = DisplayListing.rows(of: self.state, choice: self.choice, now: self.now)
        let all = order.count + self.state.waiting.count
        var top = lines.lowerBound
        let lines = self.drawSelected(all: all, lines: lines)
        let showsHeadings = hasHeadings && !self.state.rows.isEmpty && lines.count > 2
        if showsHeadings { top += 1 }
        var room = lines.upperBound - top
        let isCut = all > room && room > 1
        if isCut { room -= 1 }
        let selected = DisplayListing.selected(of: self.state, choice: self.choice, now: self.now)
        let window = self.window(order, selected: selected, room: room)
        if isCut { self.drawPosition(window, all: all, row: top + room) }

        let rows = window.filter { $0 < order.count }.map { self.state.rows[order[$0]] }
        let waiting = window.filter { $0 >= order.count }.map { self.state.waiting[$0 - order.count] }
        let (columns, freshness) = self.columns(rows, waiting: waiting, selected: all > 1 ? selected : nil)
        let limit = self.grid.size.columns + 1
        let widths = columns.map { $0.widths(hasHeadings: showsHeadings, limit: limit, glyphs: self.glyphs) }
        var fitter = LineFitter(gap: 1)
        let chosen = fitter.choose(widths: widths, wishes: self.wishes, columns: self.grid.size.columns)
        for gap in [2, 3] {
            fitter.gap = gap
            guard fitter.columns(of: chosen, widths: widths) <= self.grid.size.columns else {
                fitter.gap = gap - 1
                break
            }
        }
        var left = 0
        for (index, column) in columns.enumerated() {
            guard let form = chosen[index] else { continue }
            let width = widths[index][form]
            if showsHeadings {
                let isSorted = self.sortedColumn?.rawValue == index
                let style = isSorted ? CellStyle(.accent, .bold) : .dimmed
                self.put(column.heading, style, row: top - 1, left: left, width: width, isLeft: column.isLeft)
            }
            for (line, placed) in column.forms[form].enumerated() {
                let style = column.styles[line]
                let isChart = index == Place.chart.rawValue
                let text = isChart ? self.sparkline(rows[line], width: placed.utf8.count) : placed
                self.put(text, style, row: top + line, left: left, width: width, isLeft: column.isLeft)
                if index == Place.price.rawValue, form < 3 {
                    let used = ScreenText.width(of: text, limit: width, glyphs: self.glyphs)
                    self.flashText(of: rows[line], freshness[line], line: top + line, column: left + width - used)
                }
            }
            if index == 0 { self.sayWaiting(waiting, row: top + rows.count, column: width + fitter.gap) }
            left += width + fitter.gap
        }
    }

    /// Draws the chart and the tape of the selected symbol below a table that leaves room for them; gives the lines that
    /// remain.
    private mutating func drawSelected(all: Int, lines: Range<Int>) -> Range<Int> {
        let left = lines.count - all - 2
        guard left >= 7, let selected = DisplayListing.selected(of: self.state, choice: self.choice, now: self.now),
            let row = self.state.rows.first(where: { $0.summary.symbol == selected }), row.history.start != nil
        else { return lines }
        let top = lines.upperBound - left
        let (freshness, _) = self.age(of: row)
        let name = LineItem(Self.symbolForms(selected), CellStyle(.accent, .bold))
        self.place([name], wishes: name.all(0), row: top, gap: 1)
        self.drawHistory(row, freshness, lines: (top + 1)..<lines.upperBound, columns: self.grid.size.columns)
        return lines.lowerBound..<(top - 1)
    }

    /// The part of the list that is shown: as little scrolled as the selected row allows, which is a page at a time.
    private func window(_ order: [Int], selected: String?, room: Int) -> Range<Int> {
        let all = order.count + self.state.waiting.count
        guard room > 0 else { return 0..<0 }
        guard all > room else { return 0..<all }
        let place =
            order.firstIndex { self.state.rows[$0].summary.symbol == selected }
            ?? self.state.waiting.firstIndex { $0 == selected }.map { $0 + order.count } ?? 0
        let first = min(place / room * room, all - room)
        return first..<(first + room)
    }

    private mutating func drawPosition(_ window: Range<Int>, all: Int, row: Int) {
        let items = [
            LineItem(["\(window.lowerBound + 1) to \(window.upperBound) of \(all)", "of \(all)"], .dimmed),
            LineItem([window.upperBound < all ? "+\(all - window.upperBound) more" : ""], .dimmed),
        ]
        self.place(items, wishes: items[1].all(1) + items[0].all(0), row: row, gap: 2)
    }

    /// What matters more comes first.
    private var wishes: [LineFitter.Wish] {
        func wish(_ place: Place, _ form: Int = 0) -> LineFitter.Wish { (place.rawValue, form) }
        var wishes = [
            wish(.price, 3), wish(.symbol, 2), wish(.price, 2), wish(.age, 2), wish(.age, 1), wish(.price, 1),
            wish(.price, 0), wish(.age, 0), wish(.symbol, 1),
        ]
        // What the table is sorted by is seen, or nobody knows why it stands as it stands.
        if let sorted = self.sortedColumn { wishes.append(wish(sorted)) }
        wishes += [
            wish(.percent), wish(.chart, 2), wish(.rate), wish(.change), wish(.chart, 1), wish(.high), wish(.low),
            wish(.volume), wish(.symbol, 0), wish(.chart, 0), wish(.skipped), wish(.size), wish(.trades), wish(.open),
        ]
        return wishes
    }

    private var sortedColumn: Place? {
        switch self.choice.order {
        case .watchlist: nil
        case .symbol: .symbol
        case .price: .price
        case .change: .percent
        case .volume: .volume
        case .rate: .rate
        case .age: .age
        }
    }

    /// A heading, with an arrow where the table is sorted by it: down where the largest is on top.
    private func heading(_ text: String, _ place: Place) -> String {
        guard self.sortedColumn == place else { return text }
        let isDescending = (place == .symbol || place == .age) == self.choice.isReversed
        let arrow = self.glyphs == .unicode ? (isDescending ? "↓" : "↑") : (isDescending ? "v" : "^")
        return text + arrow
    }

    private mutating func columns(
        _ rows: [DisplayRow],
        waiting: [String],
        selected: String?
    ) -> ([Column], [Freshness]) {
        let names = rows.map(\.summary.symbol) + waiting
        let short = names.map(Self.withoutExchange)
        let isUnique = Set(short).count == Set(names).count
        let isSelected = names.map { $0 == selected }
        func marked(_ names: [String]) -> [String] {
            guard selected != nil else { return names }
            let mark = self.glyphs == .unicode ? "▸" : ">"
            return zip(names, isSelected).map { ($1 ? mark : " ") + $0 }
        }
        let plain = isSelected.map { $0 ? CellStyle(.accent, .bold) : .plain }
        var ages: [[String]] = [[], [], []]
        var freshness: [Freshness] = []
        var rates: [String] = []
        for row in rows {
            let (fresh, forms) = self.age(of: row)
            freshness.append(fresh)
            // A fresh age has no word to be shortened to; it goes before a warning does.
            ages[0].append(fresh == .fresh ? forms[1] : forms[0])
            ages[1].append(fresh == .fresh ? "" : forms[1])
            ages[2].append(fresh == .fresh ? "" : forms[2])
            rates.append(self.rate(of: row).map(self.written) ?? "")
        }
        let faces = zip(rows, freshness)
        let quiet = freshness.map { $0 == .fresh ? CellStyle.plain : .dimmed }
        let changes = faces.map { self.changeStyle($0, $1) }
        let prices = rows.map(self.priceForms)
        func text(_ value: (DisplayRow) -> String) -> [[String]] { [rows.map(value)] }
        func price(_ value: (SymbolSummary) -> ExactDecimal) -> [[String]] {
            [rows.map { self.price(value($0.summary), $0) }]
        }
        // Only the one that fits is made; these hold its place.
        let hasChart = rows.contains { $0.history.start != nil }
        let charts = [24, 16, 8].map { width in
            rows.map { _ in hasChart ? String(repeating: " ", count: width) : "" }
        }
        let columns = [
            Column(
                heading: (selected == nil ? "" : " ") + self.heading("SYMBOL", .symbol),
                forms: [
                    marked(names), marked(isUnique ? short : names),
                    marked(short.map { ScreenText.clean($0, columns: 6) }),
                ],
                styles: plain,
                isLeft: true
            ),
            Column(
                heading: self.heading("PRICE", .price),
                forms: (0..<4).map { form in prices.map { $0[form] } },
                styles: faces.map { self.priceStyle($0, $1) }
            ),
            Column(heading: self.heading("AGE", .age), forms: ages, styles: freshness.map(\.style), calmWidth: 9),
            Column(
                heading: "CHANGE",
                forms: text {
                    PriceText.change($0.summary.price, since: $0.summary.open, fractionDigits: $0.fractionDigits)
                        .map(self.written) ?? ""
                },
                styles: changes,
                calmWidth: 7
            ),
            Column(
                heading: self.heading("%", .percent),
                forms: text {
                    PriceText.percent($0.summary.price, since: $0.summary.open).map(self.written) ?? ""
                },
                styles: changes,
                calmWidth: 7
            ),
            Column(heading: self.choice.span.word.uppercased(), forms: charts, styles: changes, isLeft: true),
            Column(heading: "HIGH", forms: price(\.high), styles: quiet),
            Column(heading: "LOW", forms: price(\.low), styles: quiet),
            Column(heading: self.heading("RATE/S", .rate), forms: [rates], styles: quiet),
            Column(
                heading: self.heading("VOLUME", .volume),
                forms: text { self.written(PriceText.shortened($0.summary.volume)) },
                styles: quiet,
                calmWidth: 9
            ),
            Column(heading: "LEFT OUT", forms: text { "\($0.skipped)" }, styles: quiet),
            Column(
                heading: "SIZE",
                forms: text { self.written(PriceText.exact($0.summary.size)) },
                styles: quiet,
                calmWidth: 10
            ),
            Column(heading: "TRADES", forms: text { "\($0.summary.trades)" }, styles: quiet, calmWidth: 8),
            Column(heading: "OPEN", forms: price(\.open), styles: quiet),
        ]
        return (columns, freshness)
    }

    /// The chart of a row; nothing where all it could say is that the price has one value.
    private mutating func sparkline(_ row: DisplayRow, width: Int) -> String {
        guard let start = row.history.start else { return "" }
        let now = self.marketTime
        let stretch = self.choice.span.stretch(now: now, start: start, columns: width)
        self.noteStretch(stretch, now: now, columns: width)
        let samples = ChartSample.samples(
            of: row.history.series(span: self.choice.span.length),
            from: stretch.lowerBound,
            to: stretch.upperBound,
            now: now,
            isCut: self.isCut,
            columns: width
        )
        return ChartPlot.sparkline(samples, glyphs: self.glyphs)
    }

    private mutating func put(_ text: String, _ style: CellStyle, row: Int, left: Int, width: Int, isLeft: Bool) {
        let used = ScreenText.width(of: text, limit: width, glyphs: self.glyphs)
        let column = isLeft ? left : left + width - used
        self.grid.put(text, row: row, column: column, limit: width, style: style, glyphs: self.glyphs)
    }

    private mutating func sayWaiting(_ symbols: [String], row: Int, column: Int) {
        for (line, symbol) in symbols.enumerated() {
            let (text, style) = self.waitingWords(symbol)
            self.grid.put(text, row: row + line, column: column, style: style, glyphs: self.glyphs)
        }
    }
}
