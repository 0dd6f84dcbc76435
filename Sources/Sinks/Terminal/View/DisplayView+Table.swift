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

    mutating func drawTable(lines: Range<Int>, hasHeadings: Bool) {
        let all = self.state.rows.count + self.state.waiting.count
        var top = lines.lowerBound
        let showsHeadings = hasHeadings && !self.state.rows.isEmpty && lines.count > 2
        if showsHeadings { top += 1 }
        var room = lines.upperBound - top
        if all > room, room > 1 {
            room -= 1
            self.grid.put("+\(all - room) more", row: top + room, column: 0, style: .dimmed, glyphs: self.glyphs)
        }
        let rows = Array(self.state.rows.prefix(room))
        let waiting = Array(self.state.waiting.prefix(room - rows.count))
        let columns = self.columns(rows, waiting: waiting)
        let limit = self.grid.size.columns + 1
        let widths = columns.map { $0.widths(hasHeadings: showsHeadings, limit: limit, glyphs: self.glyphs) }
        var fitter = LineFitter(gap: 1)
        let chosen = fitter.choose(widths: widths, wishes: Self.wishes, columns: self.grid.size.columns)
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
                self.put(column.heading, .dimmed, row: top - 1, left: left, width: width, isLeft: column.isLeft)
            }
            for (line, text) in column.forms[form].enumerated() {
                let style = column.styles[line]
                self.put(text, style, row: top + line, left: left, width: width, isLeft: column.isLeft)
            }
            if index == 0 { self.sayWaiting(waiting, row: top + rows.count, column: width + fitter.gap) }
            left += width + fitter.gap
        }
    }

    /// What matters more comes first; see the columns for the numbers.
    private static let wishes: [LineFitter.Wish] = [
        (1, 3), (0, 2), (1, 2), (2, 2), (2, 1), (1, 1), (1, 0), (2, 0), (0, 1), (4, 0), (3, 0), (7, 0), (5, 0), (6, 0),
        (8, 0), (0, 0), (9, 0), (10, 0), (11, 0), (12, 0),
    ]

    private mutating func columns(_ rows: [DisplayRow], waiting: [String]) -> [Column] {
        let names = rows.map(\.summary.symbol) + waiting
        let short = names.map(Self.withoutExchange)
        let isUnique = Set(short).count == Set(names).count
        let plain = names.map { _ in CellStyle.plain }
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
            rates.append(self.rate(of: row) ?? "")
        }
        let faces = zip(rows, freshness)
        let quiet = freshness.map { $0 == .fresh ? CellStyle.plain : .dimmed }
        let changes = faces.map { self.changeStyle($0, $1) }
        let prices = rows.map(self.priceForms)
        func text(_ value: (DisplayRow) -> String) -> [[String]] { [rows.map(value)] }
        return [
            Column(
                heading: "SYMBOL",
                forms: [names, isUnique ? short : names, short.map { ScreenText.clean($0, columns: 6) }],
                styles: plain,
                isLeft: true
            ),
            Column(
                heading: "PRICE",
                forms: (0..<4).map { form in prices.map { $0[form] } },
                styles: faces.map { self.priceStyle($0, $1) }
            ),
            Column(heading: "AGE", forms: ages, styles: freshness.map(\.style), calmWidth: 9),
            Column(
                heading: "CHANGE",
                forms: text {
                    PriceText.change($0.summary.price, since: $0.summary.open, fractionDigits: $0.fractionDigits) ?? ""
                },
                styles: changes,
                calmWidth: 7
            ),
            Column(
                heading: "%",
                forms: text { PriceText.percent($0.summary.price, since: $0.summary.open) ?? "" },
                styles: changes,
                calmWidth: 7
            ),
            Column(
                heading: "HIGH",
                forms: text { PriceText.exact($0.summary.high, fractionDigits: $0.fractionDigits) },
                styles: quiet
            ),
            Column(
                heading: "LOW",
                forms: text { PriceText.exact($0.summary.low, fractionDigits: $0.fractionDigits) },
                styles: quiet
            ),
            Column(heading: "RATE/S", forms: [rates], styles: quiet),
            Column(
                heading: "VOLUME",
                forms: text { PriceText.shortened($0.summary.volume) },
                styles: quiet,
                calmWidth: 9
            ),
            Column(heading: "LEFT OUT", forms: text { "\($0.skipped)" }, styles: quiet),
            Column(heading: "SIZE", forms: text { PriceText.exact($0.summary.size) }, styles: quiet, calmWidth: 10),
            Column(heading: "TRADES", forms: text { "\($0.summary.trades)" }, styles: quiet, calmWidth: 8),
            Column(
                heading: "OPEN",
                forms: text { PriceText.exact($0.summary.open, fractionDigits: $0.fractionDigits) },
                styles: quiet
            ),
        ]
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
