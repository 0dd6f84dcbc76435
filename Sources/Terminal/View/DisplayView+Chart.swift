import Market

/// The chart of one symbol, and its tape.
extension DisplayView {
    /// Draws the chart with prices on its right, and times below it if a line is free.
    mutating func drawChart(_ text: RowText, lines: Range<Int>, columns: Int) {
        let row = text.row
        let hasAxis = lines.count >= 4
        let rows = lines.count - (hasAxis ? 1 : 0)
        guard rows >= 1, columns >= 4 else { return }
        // The labels have the width of any price of the symbol, so that the chart's width stays constant.
        let labelWidth = text.price.count + 1
        let width = columns - labelWidth >= 12 && rows >= 2 ? columns - labelWidth - 1 : columns
        guard let start = row.history.start else { return }
        let now = self.marketTime
        let picture = ChartPicture(
            of: row.history,
            self.choice.form,
            span: self.choice.span,
            now: now,
            start: start,
            isCut: self.isCut,
            columns: width,
            drawing: self.look.drawing
        )
        self.noteSpan(picture.stretch, now: now, columns: picture.form == .area ? picture.samples.count : 1)
        let volumeRows = picture.volumeRows(of: rows)
        let priceRows = rows - volumeRows
        let ticks = max(1, priceRows / 3)
        guard let scale = ChartScale(picture.samples, maximumTicks: ticks, fractionDigits: row.fractionDigits) else {
            self.put("no price in this span", .dimmed, row: lines.lowerBound, limit: width)
            return
        }
        let ends = self.ends(of: row, picture)
        let dots = picture.dots(scale: scale, rows: priceRows, volumeRows: volumeRows, open: ends?.first)
        let style = text.freshness == .fresh ? Self.lineStyle(ends) : .dimmed
        let plot = ChartPlot(dots, drawing: picture.drawing)
        for (index, line) in plot.lines.enumerated() {
            for (column, cell) in line.enumerated() where cell.part != .none {
                let style = Self.style(of: cell.part, line: style, isFresh: text.freshness == .fresh)
                self.grid.set(cell.text, row: lines.lowerBound + index, column: column, style: style)
            }
        }
        let priceLines = lines.prefix(priceRows)
        if let open = ends?.first { self.nameOpen(open, plot, scale, lines: priceLines) }
        self.drawExtremes(text, picture.samples, scale, lines: priceLines, columns: width)
        if width < columns {
            for row in lines.prefix(rows) {
                self.grid.set(self.glyphs.sign("│", "|"), row: row, column: width, style: CellStyle(.faint))
            }
            self.drawPriceAxis(scale, text, lines: priceLines, column: width)
            if volumeRows > 1, labelWidth > 6 {
                self.put("volume", .dimmed, row: priceLines.upperBound, column: columns - 6)
            }
        }
        if hasAxis { self.drawTimeAxis(picture, row: lines.upperBound - 1, columns: width, all: columns) }
    }

    /// Returns the style of a part of the chart.
    ///
    /// - Parameter line: the style of the price's line.
    private static func style(of part: ChartDots.Part, line: CellStyle, isFresh: Bool) -> CellStyle {
        let tones = isFresh ? line.ink : .plain
        return switch part {
        case .none: .plain
        case .far: CellStyle(tones, .deep)
        case .near: CellStyle(tones, .shaded)
        case .volume, .open: CellStyle(.faint)
        case .line: line
        case _ where !isFresh: .dimmed
        case .risingWick, .rising: CellStyle(.rising)
        case .fallingWick, .falling: CellStyle(.falling)
        case .risingHatched: CellStyle(.rising, .shaded)
        case .fallingHatched: CellStyle(.falling, .shaded)
        }
    }

    /// Returns the prices of a row in a time range.
    mutating func samples(of row: DisplayRow, _ stretch: Range<Int64>, columns: Int) -> [ChartSample] {
        let now = self.marketTime
        self.noteSpan(stretch, now: now, columns: columns)
        return ChartSample.samples(
            of: row.history.series(span: self.choice.span.length),
            from: stretch.lowerBound,
            to: stretch.upperBound,
            now: now,
            isCut: self.isCut,
            columns: columns
        )
    }

    /// Returns the first and the last price of the span. Those of the whole session are the row's own.
    private func ends(of row: DisplayRow, _ picture: ChartPicture) -> (first: Double, last: Double)? {
        if self.choice.span == .session, row.history.start == row.history.sessionStart {
            return (row.summary.open.approximation, row.summary.price.approximation)
        }
        return picture.ends
    }

    /// Returns the style for a rise or a fall over the span.
    private static func lineStyle(_ ends: (first: Double, last: Double)?) -> CellStyle {
        guard let ends, ends.first != ends.last else { return CellStyle(.accent) }
        return CellStyle(ends.last > ends.first ? .rising : .falling)
    }

    /// Names the line of the price at the beginning at its right end, where nothing else is drawn there.
    private mutating func nameOpen(_ open: Double, _ plot: ChartPlot, _ scale: ChartScale, lines: Range<Int>) {
        let word = "open"
        guard lines.count >= 4, (scale.bottom...scale.top).contains(open) else { return }
        let height = self.look.drawing.rows
        let row = ChartDots.row(open, scale: scale, rows: lines.count * height) / height
        guard plot.lines.indices.contains(row), plot.lines[row].count >= 24,
            plot.lines[row].suffix(word.count + 1).allSatisfy({ $0.part == .none || $0.part == .open })
        else { return }
        self.put(word, .dimmed, row: lines.lowerBound + row, column: plot.lines[row].count - word.count)
    }

    /// Marks the highest and the lowest price of the span, with the number if it is that of the session: others are not
    /// known exactly.
    private mutating func drawExtremes(
        _ text: RowText,
        _ samples: [ChartSample],
        _ scale: ChartScale,
        lines: Range<Int>,
        columns: Int
    ) {
        guard lines.count >= 4, columns >= 24,
            let high = samples.compactMap(\.high).max(), let low = samples.compactMap(\.low).min(), high > low
        else { return }
        let perColumn = self.look.drawing.columns
        let summary = text.row.summary
        for (value, known, isHigh) in [(high, summary.high, true), (low, summary.low, false)] {
            let sign = isHigh ? self.glyphs.sign("▴", "^") : self.glyphs.sign("▾", "v")
            guard let place = samples.firstIndex(where: { (isHigh ? $0.high : $0.low) == value }) else { continue }
            let words = known.approximation == value ? "\(sign)\(text.text(known))" : sign
            let width = ScreenText.width(of: words, limit: columns, glyphs: self.glyphs)
            let row = lines.lowerBound + ChartDots.row(value, scale: scale, rows: lines.count)
            // Above the highest price and below the lowest; at the edge of the chart beside it, where nothing is drawn.
            let outside = isHigh ? row - 1 : row + 1
            let column = place / perColumn
            let places =
                lines.contains(outside)
                ? [(outside, min(column, columns - width))] : [(row, column + 1), (row, column - width)]
            let free = places.first { row, column in
                column >= 0 && column + width <= columns
                    && (!isHigh || (column..<column + width).allSatisfy { self.grid[row, $0] == .blank })
            }
            if let free { self.put(words, .dimmed, row: free.0, column: free.1) }
        }
    }

    private mutating func drawPriceAxis(_ scale: ChartScale, _ text: RowText, lines: Range<Int>, column: Int) {
        func row(_ value: Double) -> Int {
            lines.lowerBound + Int(((1 - scale.height(value)) * Double(lines.count - 1)).rounded())
        }
        let digits = scale.ticks.map { -Int($0.price.exponent) }.max() ?? 0
        let room = text.price.count
        for tick in scale.ticks {
            let at = row(tick.value)
            self.grid.set(self.glyphs.sign("┤", "+"), row: at, column: column, style: CellStyle(.faint))
            let label = self.look.written(tick.price, fractionDigits: digits)
            guard label.count <= room else { continue }
            self.put(label, .dimmed, row: at, column: column + 1 + room - label.count)
        }
        // The current price, over any label at its height.
        guard text.freshness != .old else { return }
        let at = row(text.row.summary.price.approximation)
        self.grid.set(self.glyphs.sign("◂", "<"), row: at, column: column, style: text.priceStyle)
        self.put(text.price, text.priceStyle, row: at, column: column + 1)
    }

    private mutating func drawTimeAxis(_ picture: ChartPicture, row: Int, columns: Int, all: Int) {
        var left = 0
        if picture.form == .candles, columns >= 36 {
            left = self.put("\(picture.periods.word) candles", .dimmed, row: row) + 2
        }
        for label in TimeAxis(picture.stretch, columns: picture.timed.count, clock: self.clock).labels {
            let column = picture.timed.lowerBound + label.column - label.text.count / 2
            guard column >= left, column + label.text.count <= columns else { continue }
            self.put(label.text, .dimmed, row: row, column: column)
        }
        let (zone, span) = (self.clock.label(at: picture.stretch.upperBound), self.choice.span.word)
        let words = ["\(zone) \(span)"] + (self.choice.span == .session ? [span, zone] : [zone, span])
        let room = all - columns - 1
        if let word = words.first(where: { $0.count <= room }) {
            self.put(word, .dimmed, row: row, column: columns + 1 + room - word.count)
        }
    }

    /// Notes the time at which the clock alone moves the chart: its newest point by one column, or the whole chart.
    mutating func noteSpan(_ stretch: Range<Int64>, now: Int64, columns: Int) {
        guard !self.isCut, self.choice.frozenSince == nil, !(self.state.replay?.isPaused ?? false) else { return }
        let perColumn = max((stretch.upperBound - stretch.lowerBound) / Int64(max(columns, 1)), 1_000_000_000)
        self.note(changeIn: perColumn)
        self.note(changeIn: max(stretch.upperBound - now, 1_000_000))
    }

    /// Whether the connection is lost, so that the price since the newest trade is unknown.
    var isCut: Bool {
        switch self.state.status.phase {
        case .live, .late, .stale: false
        case .connecting, .waiting, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted,
            .ended, .stopped:
            true
        }
    }

    // MARK: The tape

    /// Draws the newest displayed prices, newest first.
    mutating func drawTape(_ text: RowText, lines: Range<Int>, column left: Int) {
        let tape = text.row.tape
        let entries = (0..<max(0, min(tape.count, lines.count - 1))).map { tape[$0] }
        guard !entries.isEmpty else { return }
        let columns = self.tapeColumns(text)
        let width = self.grid.size.columns - left
        for place in self.fit(columns, entries, columns: width, gaps: 2...2, hasHeadings: true) {
            let column = columns[place.column]
            let blanks = String(repeating: " ", count: column.isLeft ? 0 : place.width - column.heading.count)
            self.put(blanks + column.heading, .dimmed, row: lines.lowerBound, column: left + place.left)
            for (line, (entry, text)) in zip(entries, place.texts).enumerated() {
                let row = lines.lowerBound + 1 + line
                self.put(text, column.style(entry), in: place, isLeft: column.isLeft, row: row, from: left)
            }
        }
    }

    private func tapeColumns(_ text: RowText) -> [TableColumn<ShownPrices.Entry>] {
        let (look, glyphs, clock) = (self.look, self.glyphs, self.clock)
        func time(_ length: Int) -> (ShownPrices.Entry) -> String {
            { String(clock.preciseTimeOfDay($0.time).prefix(length)) }
        }
        return [
            TableColumn("TIME", isLeft: true, forms: [(4, time(.max)), (1, time(8))], style: { _ in .dimmed }),
            TableColumn(
                "PRICE  ",
                isKept: true,
                forms: [(0, { "\(text.text($0.price)) \(glyphs.arrow($0.direction))" })],
                style: { _ in .plain }
            ),
            // A fixed width keeps the column still while sizes change.
            TableColumn(
                "SIZE",
                isKept: true,
                calmWidth: 10,
                forms: [(2, { look.written($0.size) })],
                style: { _ in .plain }
            ),
        ]
    }
}
