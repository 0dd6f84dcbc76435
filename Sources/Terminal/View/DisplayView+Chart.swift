import Market

/// The chart of one symbol, and its tape.
extension DisplayView {
    /// Draws the chart with prices on its right, and where there is a line for it times below.
    mutating func drawChart(_ row: DisplayRow, _ freshness: Freshness, lines: Range<Int>, columns: Int) {
        let hasAxis = lines.count >= 4
        let rows = lines.count - (hasAxis ? 1 : 0)
        guard rows >= 1, columns >= 4 else { return }
        // The labels' width is that of any price there, so that the chart's own does not change with them.
        let labelWidth = self.price(row).count + 1
        let width = columns - labelWidth >= 12 && rows >= 2 ? columns - labelWidth - 1 : columns
        let count = ChartPlot.sampleCount(columns: width, glyphs: self.glyphs)
        guard let (samples, stretch) = self.samples(of: row, columns: count) else { return }
        guard let scale = ChartScale(samples, mostTicks: max(1, rows / 3), fractionDigits: row.fractionDigits) else {
            self.grid.put("no price in this span", row: lines.lowerBound, column: 0, limit: width, style: .dimmed)
            return
        }
        let plot = ChartPlot(samples, scale: scale, rows: rows, glyphs: self.glyphs)
        let style = self.lineStyle(row, samples, freshness)
        for (index, line) in plot.lines.enumerated() {
            for (column, text) in line.enumerated() where text != " " {
                self.grid.set(text, row: lines.lowerBound + index, column: column, style: style)
            }
        }
        if width < columns { self.drawPriceAxis(scale, row, lines.lowerBound, rows, column: width, freshness) }
        if hasAxis { self.drawTimeAxis(stretch, row: lines.upperBound - 1, columns: width, all: columns) }
    }

    /// The prices of a row over the span that is chosen, and the time they are of; `nil` before the first one.
    mutating func samples(of row: DisplayRow, columns: Int) -> (samples: [ChartSample], stretch: Range<Int64>)? {
        guard let start = row.history.start else { return nil }
        let now = self.marketTime
        let stretch = self.choice.span.stretch(now: now, start: start, columns: columns)
        self.noteStretch(stretch, now: now, columns: columns)
        let samples = ChartSample.samples(
            of: row.history.series(span: self.choice.span.length),
            from: stretch.lowerBound,
            to: stretch.upperBound,
            now: now,
            isCut: self.isCut,
            columns: columns
        )
        return (samples, stretch)
    }

    /// Up or down over the span, as the words beside the price say for theirs, which is the session where the chart is of
    /// that alone.
    private func lineStyle(_ row: DisplayRow, _ samples: [ChartSample], _ freshness: Freshness) -> CellStyle {
        guard freshness == .fresh else { return .dimmed }
        let closes = samples.compactMap(\.close)
        var (first, last) = (closes.first ?? 0, closes.last ?? 0)
        if self.choice.span == .session, row.history.start == row.history.sessionStart {
            (first, last) = (row.summary.open.approximation, row.summary.price.approximation)
        }
        guard first != last else { return CellStyle(.accent) }
        return CellStyle(last > first ? .rising : .falling)
    }

    private mutating func drawPriceAxis(
        _ scale: ChartScale,
        _ row: DisplayRow,
        _ top: Int,
        _ rows: Int,
        column: Int,
        _ freshness: Freshness
    ) {
        let (bar, mark, arrow) = self.glyphs == .unicode ? ("│", "┤", "◂") : ("|", "+", "<")
        for line in 0..<rows { self.grid.set(bar, row: top + line, column: column, style: CellStyle(.faint)) }
        func line(_ value: Double) -> Int { Int(((1 - scale.height(value)) * Double(rows - 1)).rounded()) }
        let digits = scale.ticks.map { -Int($0.price.exponent) }.max() ?? 0
        for tick in scale.ticks {
            let at = top + line(tick.value)
            self.grid.set(mark, row: at, column: column, style: CellStyle(.faint))
            let text = self.written(PriceText.exact(tick.price, fractionDigits: digits))
            let room = self.price(row).count
            guard text.count <= room else { continue }
            self.grid.put(text, row: at, column: column + 1 + room - text.count, style: .dimmed)
        }
        // Where the price stands now, over any label there.
        guard freshness != .old else { return }
        let at = top + line(row.summary.price.approximation)
        self.grid.set(arrow, row: at, column: column, style: self.priceStyle(row, freshness))
        self.grid.put(self.price(row), row: at, column: column + 1, style: self.priceStyle(row, freshness))
    }

    private mutating func drawTimeAxis(_ stretch: Range<Int64>, row: Int, columns: Int, all: Int) {
        for label in TimeAxis(stretch, columns: columns).labels {
            let column = label.column - label.text.count / 2
            guard column >= 0, column + label.text.count <= columns else { continue }
            self.grid.put(label.text, row: row, column: column, style: .dimmed)
        }
        let words =
            self.choice.span == .session ? ["UTC session", "session", "UTC"] : ["UTC \(self.choice.span.word)", "UTC"]
        let room = all - columns - 1
        if let word = words.first(where: { $0.count <= room }) {
            self.grid.put(word, row: row, column: columns + 1 + room - word.count, style: .dimmed)
        }
    }

    /// Notes when the chart moves by the clock alone: its newest point by one column, or all of it.
    mutating func noteStretch(_ stretch: Range<Int64>, now: Int64, columns: Int) {
        guard !self.isCut, self.choice.frozenSince == nil, !(self.state.replay?.isPaused ?? false) else { return }
        let perColumn = max((stretch.upperBound - stretch.lowerBound) / Int64(max(columns, 1)), 1_000_000_000)
        self.note(changeIn: perColumn)
        self.note(changeIn: max(stretch.upperBound - now, 1_000_000))
    }

    /// Whether the feed is cut, so that nobody knows what the price has done since its newest trade.
    var isCut: Bool {
        switch self.state.status.phase {
        case .live, .late, .stale: false
        case .connecting, .waiting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted,
            .ended, .stopped:
            true
        }
    }

    // MARK: The tape

    /// Draws the newest prices that were shown, the newest first, with what the debounce left out before each.
    mutating func drawTape(_ row: DisplayRow, lines: Range<Int>, column: Int, columns: Int) {
        let entries = (0..<max(0, min(row.tape.count, lines.count - 1))).map { row.tape[$0] }
        guard !entries.isEmpty else { return }
        let prices = entries.map { "\(self.price($0.price, row)) \(self.arrow($0.direction))" }
        let sizes = entries.map { self.written(PriceText.exact($0.size)) }
        let skips = entries.map { $0.skipped > 0 ? "+\($0.skipped)" : "" }
        let times = entries.map { UTCText.preciseTimeOfDay($0.time) }
        let forms = [[times, times.map { String($0.prefix(8)) }], [prices], [sizes], [skips]]
        let headings = ["TIME", "PRICE  ", "SIZE", "LEFT OUT"]
        var widths = forms.map { $0.map { texts in texts.map(\.count).max() ?? 0 } }
        for index in 1..<4 { widths[index][0] = max(widths[index][0], headings[index].count) }
        // A width that changed with every size would make all of it dance.
        widths[2][0] = max(widths[2][0], 10)
        let wishes: [LineFitter.Wish] = [(1, 0), (0, 1), (2, 0), (3, 0), (0, 0)]
        let chosen = LineFitter(gap: 2).choose(widths: widths, wishes: wishes, columns: columns)
        var left = column
        for (item, form) in chosen.enumerated() {
            guard let form else { continue }
            let width = widths[item][form]
            let heading =
                item == 0 ? headings[0] : String(repeating: " ", count: width - headings[item].count) + headings[item]
            self.grid.put(heading, row: lines.lowerBound, column: left, style: .dimmed)
            for (line, text) in forms[item][form].enumerated() {
                let style: CellStyle =
                    switch (item, entries[line].direction) {
                    case (1, .up): CellStyle(.rising)
                    case (1, .down): CellStyle(.falling)
                    case (0, _), (3, _): .dimmed
                    case (_, _): .plain
                    }
                let at = left + (item == 0 ? 0 : width - text.count)
                self.grid.put(text, row: lines.lowerBound + 1 + line, column: at, style: style, glyphs: self.glyphs)
            }
            left += width + 2
        }
    }
}
