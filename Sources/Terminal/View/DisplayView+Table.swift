import Market

/// The screen of several symbols: one line each, and as many columns as fit.
extension DisplayView {
    /// A column in several forms, widest first; each form has one text a line.
    private struct Column {
        var heading: String
        var styles: [CellStyle]
        var isLeft = false
        /// The least width of the widest form, so that the table does not jump with every digit.
        var calmWidth = 0

        /// What a form is wide at least, if it shows anything.
        func leastWidth(form: Int, hasHeadings: Bool) -> Int {
            form == 0 ? max(self.calmWidth, hasHeadings ? self.heading.count : 1) : 1
        }
    }

    /// What the lines of a table say, as far as more than one column or form needs it.
    private struct Lines {
        var rows: [DisplayRow]
        /// Of the rows and of those that wait.
        var names: [[String]]
        var ages: [[String]]
        var rates: [String]
        var prices: [[String]]
        var freshness: [Freshness]
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
        let contents = self.contents(rows, waiting: waiting, selected: all > 1 ? selected : nil)
        let columns = self.columns(contents, selected: all > 1 ? selected : nil, waiting: waiting)
        let limit = self.grid.size.columns + 1
        // What does not fit anyhow is not put into words.
        let chosen = LineFitter(gap: 1).choose(
            items: columns.count,
            wishes: self.wishes,
            columns: self.grid.size.columns,
            least: { columns[$0.item].leastWidth(form: $0.form, hasHeadings: showsHeadings) },
            width: { wish in
                guard let place = Place(rawValue: wish.item) else { return 0 }
                let texts = self.texts(of: place, form: wish.form, contents)
                let widest = texts.map { ScreenText.width(of: $0, limit: limit, glyphs: self.glyphs) }.max() ?? 0
                guard widest > 0 else { return 0 }
                return max(widest, columns[wish.item].leastWidth(form: wish.form, hasHeadings: showsHeadings))
            }
        )
        let (count, used) = chosen.reduce((0, 0)) { ($0.0 + ($1 == nil ? 0 : 1), $0.1 + ($1?.width ?? 0)) }
        let gap = (2...3).last { used + max(0, count - 1) * $0 <= self.grid.size.columns } ?? 1
        var left = 0
        for (index, column) in columns.enumerated() {
            guard let (form, width) = chosen[index], let place = Place(rawValue: index) else { continue }
            if showsHeadings {
                let isSorted = self.sortedColumn?.rawValue == index
                let style = isSorted ? CellStyle(.accent, .bold) : .dimmed
                self.put(column.heading, style, row: top - 1, left: left, width: width, isLeft: column.isLeft)
            }
            for (line, placed) in self.texts(of: place, form: form, contents).enumerated() {
                let style = column.styles[line]
                let text = place == .chart ? self.sparkline(rows[line], width: placed.utf8.count) : placed
                self.put(text, style, row: top + line, left: left, width: width, isLeft: column.isLeft)
                if place == .price, form < 3 {
                    let used = ScreenText.width(of: text, limit: width, glyphs: self.glyphs)
                    self.flashText(
                        of: rows[line],
                        contents.freshness[line],
                        line: top + line,
                        column: left + width - used
                    )
                }
            }
            if index == 0 { self.sayWaiting(waiting, row: top + rows.count, column: width + gap) }
            left += width + gap
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
        let name = ScreenItem(Self.symbolForms(selected), CellStyle(.accent, .bold))
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
            ScreenItem(["\(window.lowerBound + 1) to \(window.upperBound) of \(all)", "of \(all)"], .dimmed),
            ScreenItem([window.upperBound < all ? "+\(all - window.upperBound) more" : ""], .dimmed),
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

    private mutating func contents(_ rows: [DisplayRow], waiting: [String], selected: String?) -> Lines {
        let names = rows.map(\.summary.symbol) + waiting
        let short = names.map(Self.withoutExchange)
        let isUnique = Set(short).count == Set(names).count
        func marked(_ texts: [String]) -> [String] {
            guard selected != nil else { return texts }
            let mark = self.glyphs == .unicode ? "▸" : ">"
            return zip(texts, names).map { ($1 == selected ? mark : " ") + $0 }
        }
        var lines = Lines(
            rows: rows,
            names: [
                marked(names), marked(isUnique ? short : names),
                marked(short.map { ScreenText.clean($0, columns: 6) }),
            ],
            ages: [[], [], []],
            rates: [],
            prices: rows.map(self.priceForms),
            freshness: []
        )
        for row in rows {
            let (fresh, forms) = self.age(of: row)
            lines.freshness.append(fresh)
            // A fresh age has no word to be shortened to; it goes before a warning does.
            // Nor is there a column between mark and word.
            let short = Array(forms.suffix(3))
            lines.ages[0].append(fresh == .fresh ? forms[1] : short[0])
            lines.ages[1].append(fresh == .fresh ? "" : short[1])
            lines.ages[2].append(fresh == .fresh ? "" : short[2])
            lines.rates.append(self.rate(of: row).map(self.written) ?? "")
        }
        return lines
    }

    private func columns(_ lines: Lines, selected: String?, waiting: [String]) -> [Column] {
        let names = lines.rows.map(\.summary.symbol) + waiting
        let faces = zip(lines.rows, lines.freshness)
        let quiet = lines.freshness.map { $0 == .fresh ? CellStyle.plain : .dimmed }
        let changes = faces.map { self.changeStyle($0, $1) }
        return [
            Column(
                heading: (selected == nil ? "" : " ") + self.heading("SYMBOL", .symbol),
                styles: names.map { $0 == selected && selected != nil ? CellStyle(.accent, .bold) : .plain },
                isLeft: true
            ),
            Column(heading: self.heading("PRICE", .price), styles: faces.map { self.priceStyle($0, $1) }),
            Column(heading: self.heading("AGE", .age), styles: lines.freshness.map(\.style), calmWidth: 9),
            Column(heading: "CHANGE", styles: changes, calmWidth: 7),
            Column(heading: self.heading("%", .percent), styles: changes, calmWidth: 7),
            Column(heading: self.choice.span.word.uppercased(), styles: changes, isLeft: true),
            Column(heading: "HIGH", styles: quiet),
            Column(heading: "LOW", styles: quiet),
            Column(heading: self.heading("RATE/S", .rate), styles: quiet),
            Column(heading: self.heading("VOLUME", .volume), styles: quiet, calmWidth: 9),
            Column(heading: "LEFT OUT", styles: quiet),
            Column(heading: "SIZE", styles: quiet, calmWidth: 10),
            Column(heading: "TRADES", styles: quiet, calmWidth: 8),
            Column(heading: "OPEN", styles: quiet),
        ]
    }

    /// What a column says in one of its forms, a text a line.
    private func texts(of place: Place, form: Int, _ lines: Lines) -> [String] {
        func price(_ value: (SymbolSummary) -> ExactDecimal) -> [String] {
            lines.rows.map { self.price(value($0.summary), $0) }
        }
        return switch place {
        case .symbol: lines.names[form]
        case .price: lines.prices.map { $0[form] }
        case .age: lines.ages[form]
        case .change:
            lines.rows.map {
                PriceText.change($0.summary.price, since: $0.summary.open, fractionDigits: $0.fractionDigits)
                    .map(self.written) ?? ""
            }
        case .percent:
            lines.rows.map { PriceText.percent($0.summary.price, since: $0.summary.open).map(self.written) ?? "" }
        case .chart:
            // Only the one that fits is made; these hold its place.
            lines.rows.map { _ in
                let hasChart = lines.rows.contains { $0.history.start != nil }
                return hasChart ? String(repeating: " ", count: [24, 16, 8][form]) : ""
            }
        case .high: price(\.high)
        case .low: price(\.low)
        case .rate: lines.rates
        case .volume: lines.rows.map { self.written(PriceText.shortened($0.summary.volume)) }
        case .skipped: lines.rows.map { "\($0.skipped)" }
        case .size: lines.rows.map { self.written(PriceText.exact($0.summary.size)) }
        case .trades: lines.rows.map { "\($0.summary.trades)" }
        case .open: price(\.open)
        }
    }

    /// The chart of a row; nothing where all it could say is that the price has one value.
    private mutating func sparkline(_ row: DisplayRow, width: Int) -> String {
        guard let samples = self.samples(of: row, columns: width)?.samples else { return "" }
        return ChartPlot.sparkline(samples, glyphs: self.glyphs)
    }

    private mutating func put(_ text: String, _ style: CellStyle, row: Int, left: Int, width: Int, isLeft: Bool) {
        let used = ScreenText.width(of: text, limit: width, glyphs: self.glyphs)
        let column = isLeft ? left : left + width - used
        self.grid.put(text, row: row, column: column, limit: width, style: style, glyphs: self.glyphs)
    }

    private mutating func sayWaiting(_ symbols: [String], row: Int, column: Int) {
        for (line, symbol) in symbols.enumerated() {
            let (text, style) = self.waitingWords(symbol, room: self.grid.size.columns - column)
            self.grid.put(text, row: row + line, column: column, style: style, glyphs: self.glyphs)
        }
    }
}
