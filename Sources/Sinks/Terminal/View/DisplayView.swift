import Market

/// A screen as it should look, and when it should look again.
package struct DisplayFrame: Sendable {
    package var grid: ScreenGrid
    /// When the picture changes by the clock alone, monotonic ns; `nil`: only news can change it.
    package var changesAt: Int64?
}

/// The picture of a ``DisplayState``: state, size and time in, cells out.
///
/// What does not fit is left out, never wrapped (but for the reason of a state, which tells the cure), by rank: the marks (demo, replay, unchecked certificate), then the
/// price, then how old it is, then the rest.
package struct DisplayView {
    let state: DisplayState
    let choice: DisplayChoice
    let now: DisplayTime
    let look: DisplayLook
    var glyphs: ScreenGlyphs { self.look.glyphs }
    /// What the latency pane shows.
    let latency: LatencyReport?
    var grid: ScreenGrid
    private var changesAt: Int64?

    /// Draws.
    ///
    /// - Parameters:
    ///   - choice: what the person has chosen.
    ///   - latency: the figures for the latency pane, wanted only while `choice` has it open.
    package static func frame(
        of state: DisplayState,
        choice: DisplayChoice = DisplayChoice(),
        size: ScreenGrid.Size,
        now: DisplayTime,
        look: DisplayLook = DisplayLook(),
        latency: LatencyReport? = nil
    ) -> DisplayFrame {
        var view = DisplayView(
            state: state,
            choice: choice,
            now: now,
            look: look,
            latency: latency,
            grid: ScreenGrid(size: size)
        )
        view.draw()
        return DisplayFrame(grid: view.grid, changesAt: view.changesAt)
    }

    private init(
        state: DisplayState,
        choice: DisplayChoice,
        now: DisplayTime,
        look: DisplayLook,
        latency: LatencyReport?,
        grid: ScreenGrid
    ) {
        self.state = state
        self.choice = choice
        self.now = now
        self.look = look
        self.latency = latency
        self.grid = grid
    }

    private mutating func draw() {
        let rows = self.grid.size.rows
        guard rows > 1 else {
            self.drawOnlyLine()
            return
        }
        let unsaid = self.drawHeader()
        var top = 1
        if rows >= 3, let reason = unsaid {
            // The cure stands at a reason's end, so a screen with room shows all of it.
            let most = rows >= 12 ? 4 : (rows >= 10 ? 3 : 1)
            let lines = ScreenText.lines(reason, columns: self.grid.size.columns, most: most, glyphs: self.glyphs)
            for line in lines {
                self.grid.put(line, row: top, column: 0, style: CellStyle(.alarm), glyphs: self.glyphs)
                top += 1
            }
        }
        if rows >= 10 { top += 1 }
        var bottom = rows
        if rows >= 5 {
            bottom -= 1
            self.drawFooter(row: bottom)
        }
        if rows >= 6, self.state.gaps > 0 {
            bottom -= 1
            self.drawGaps(row: bottom)
        }
        if rows >= 4, let notice = self.livingNotice() {
            bottom -= 1
            self.drawNotice(notice, row: bottom)
        }
        if rows >= 10 { bottom -= 1 }
        guard top < bottom else { return }
        if self.choice.pane == .latency, let latency { bottom = self.drawLatency(latency, lines: top..<bottom) }
        guard top < bottom else { return }
        if self.state.rows.count + self.state.waiting.count == 1, let row = self.state.rows.first, bottom - top >= 2 {
            self.drawCard(row, lines: top..<bottom)
        } else {
            self.drawTable(lines: top..<bottom, hasHeadings: rows >= 5)
        }
    }

    // MARK: The lines that every screen has

    /// Draws the state and the marks; gives the reason if it found no room.
    private mutating func drawHeader() -> String? {
        let words = self.statusWords()
        let items = [
            LineItem(words.forms, CellStyle(words.ink, .bold)),
            LineItem(DisplayMarks.source(self.state.status.source), CellStyle(.warning, [.bold, .reversed])),
            LineItem(
                DisplayMarks.certificate(isChecked: self.state.status.certificateChecked),
                CellStyle(.alarm, [.bold, .reversed])
            ),
            LineItem([self.symbolCount()]),
        ]
        var wishes = [items[1].shortest(1), items[2].shortest(2)] + items[0].all(0).prefix(3)
        // Marks that are words come before more words of the state, and its reason last: it can have its own line.
        wishes += items[1].shortWord(1) + items[2].shortWord(2) + items[0].all(0)
        if words.reason != nil { wishes.removeAll { $0.item == 0 && $0.form == 0 } }
        wishes += items[1].all(1).dropLast() + items[2].all(2) + [(0, 0), (1, 0), (3, 0)]
        let chosen = self.place(items, wishes: wishes, row: 0, gap: 2)
        return chosen[0] == 0 ? nil : words.reason
    }

    private mutating func drawFooter(row: Int) {
        let skipped = self.state.rows.reduce(UInt64(0)) { $0 &+ $1.skipped }
        let relay = self.state.relay.map { address in
            switch self.state.clients {
            case .some(let clients):
                ["relay \(address), \(Self.count(clients, "client"))", Self.count(clients, "client")]
            case .none: ["relay \(address)"]
            }
        }
        let items = [
            LineItem(relay ?? [], CellStyle(.plain, .dim)),
            LineItem(skipped > 0 ? ["\(skipped) left out by the debounce", "left out \(skipped)"] : [], .dimmed),
            LineItem(["q quits, l latency", "q quits"], .dimmed),
        ]
        self.place(items, wishes: [(1, 1), (0, 1), (0, 0), (2, 1), (2, 0), (1, 0)], row: row, gap: 3)
    }

    private mutating func drawGaps(row: Int) {
        guard let gap = self.state.lastGap else { return }
        let gaps = Self.count(self.state.gaps, "gap")
        let span = AgeText.words(gap.to - gap.from)
        let until = UTCText.timeOfDay(gap.to)
        let item = LineItem(
            [
                "\(gaps), the last \(span) until \(until) UTC: \(gap.reason)",
                "\(gaps), the last \(span) until \(until)",
                "\(gaps), the last \(span)", gaps,
            ],
            CellStyle(.warning)
        )
        self.place([item], wishes: item.all(0), row: row, gap: 1)
    }

    // MARK: What all parts draw with

    /// A text in several lengths, longest first, with its look.
    struct LineItem {
        var forms: [String]
        var style: CellStyle

        init(_ forms: [String], _ style: CellStyle = .plain) {
            self.forms = forms
            self.style = style
        }

        /// The wish for the shortest form, as item number `item`.
        func shortest(_ item: Int) -> LineFitter.Wish { (item, max(0, self.forms.count - 1)) }

        /// Wishes for every form, the shortest first.
        func all(_ item: Int) -> [LineFitter.Wish] { self.forms.indices.reversed().map { (item, $0) } }

        /// The wish for the shortest form that still is a word of three letters or more.
        func shortWord(_ item: Int) -> [LineFitter.Wish] {
            self.forms.lastIndex { $0.utf8.count >= 3 }.map { [(item, $0)] } ?? []
        }
    }

    /// Writes the items that fit, side by side; gives the form of each.
    @discardableResult
    mutating func place(_ items: [LineItem], wishes: [LineFitter.Wish], row: Int, gap: Int) -> [Int?] {
        let columns = self.grid.size.columns
        let widths = items.map { $0.forms.map { ScreenText.width(of: $0, limit: columns + 1, glyphs: self.glyphs) } }
        let chosen = LineFitter(gap: gap).choose(widths: widths, wishes: wishes, columns: columns)
        var column = 0
        for (item, form) in chosen.enumerated() {
            guard let form else { continue }
            let text = items[item].forms[form]
            column += self.grid.put(text, row: row, column: column, style: items[item].style, glyphs: self.glyphs) + gap
        }
        return chosen
    }

    /// Notes that the picture changes in so many ns without any news.
    mutating func note(changeIn span: Int64?) {
        guard let span else { return }
        let at = self.now.monotonic + max(span, 1)
        self.changesAt = min(self.changesAt ?? at, at)
    }

    /// Notes that the picture changes when a growing age reaches a limit; ns.
    private mutating func note(changeAt limit: Int64, of age: Int64) {
        if age < limit { self.note(changeIn: limit - age) }
    }

    /// The state in words; notes how long they stay true.
    mutating func statusWords() -> StatusWords {
        let words = StatusWords(self.status, silence: self.silence, wall: self.now.wall, glyphs: self.glyphs)
        self.note(changeIn: words.lasts)
        if let silence = self.silence, self.state.status.phase == .live {
            // When the feed should have spoken.
            let limits = self.state.limits
            for limit in [limits.lateAfter, max(limits.lateAfter, limits.staleAfter)] {
                self.note(changeAt: limit + FreshnessLimits.patience, of: silence)
            }
        }
        return words
    }

    /// The age of the newest trade of all, ns.
    private var silence: Int64? { self.state.rows.map { self.now.monotonic - $0.arrived }.min() }

    /// What is true of the feed, its age considered.
    var status: FeedStatus {
        self.state.status.believed(newestAge: self.silence, wall: self.now.wall, limits: self.state.limits)
    }

    /// The age of a row's price; notes when its words change.
    mutating func age(of row: DisplayRow) -> (freshness: Freshness, forms: [String]) {
        let age = self.now.monotonic - row.arrived
        let symbol = self.state.symbolStates[row.summary.symbol]
        let limits = self.state.limits
        let freshness = Freshness(age: age, phase: self.status.phase, symbol: symbol?.state, limits: limits)
        self.note(changeIn: AgeText.untilChange(growing: age))
        self.note(changeAt: limits.lateAfter, of: age)
        self.note(changeAt: limits.staleAfter, of: age)
        if let words = SymbolWords(symbol, age: age) { return (.old, words.forms) }
        return (freshness, freshness.forms(age: age))
    }

    /// What is said of a symbol that has no price yet; notes when the words change.
    mutating func waitingWords(_ symbol: String) -> (text: String, style: CellStyle) {
        let status = self.state.symbolStates[symbol]
        let age = self.now.wall - (status?.since ?? self.now.wall)
        guard let words = SymbolWords(status, age: age) else { return ("no price yet", .dimmed) }
        if words.isAged { self.note(changeIn: AgeText.untilChange(growing: age)) }
        return (words.sentence, words.isAged ? CellStyle(.warning) : CellStyle(.alarm))
    }

    mutating func rate(of row: DisplayRow) -> String? {
        self.note(changeIn: row.rate.nextChange(now: self.now.monotonic).map { $0 - self.now.monotonic })
        return row.rate.tenthsPerSecond(now: self.now.monotonic).map(PriceText.rate(tenths:))
    }

    /// The price with its arrow, longest form first; the last form says that it does not fit.
    func priceForms(_ row: DisplayRow) -> [String] {
        let price = PriceText.exact(row.summary.price, fractionDigits: row.fractionDigits)
        let isUnicode = self.glyphs == .unicode
        let arrow =
            switch row.direction {
            case .none: " "
            case .up: isUnicode ? "▲" : "^"
            case .down: isUnicode ? "▼" : "v"
            }
        return ["\(price) \(arrow)", "\(price)\(arrow)", price, isUnicode ? "…" : "~"]
    }

    func priceStyle(_ row: DisplayRow, _ freshness: Freshness) -> CellStyle {
        guard freshness == .fresh else {
            let isStruck = freshness == .old && self.now.monotonic - row.arrived >= self.state.limits.staleAfter
            return CellStyle(.plain, isStruck ? [.dim, .struck] : .dim)
        }
        return switch row.direction {
        case .none: CellStyle(.plain, .bold)
        case .up: CellStyle(.rising, .bold)
        case .down: CellStyle(.falling, .bold)
        }
    }

    func changeStyle(_ row: DisplayRow, _ freshness: Freshness) -> CellStyle {
        guard freshness == .fresh else { return .dimmed }
        if row.summary.price == row.summary.open { return .plain }
        return CellStyle(row.summary.price > row.summary.open ? .rising : .falling)
    }

    private func symbolCount() -> String {
        let count = self.state.rows.count + self.state.waiting.count
        return count > 1 ? Self.count(count, "symbol") : ""
    }

    static func count(_ number: some BinaryInteger, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }

    /// A symbol without its exchange: `BINANCE:BTCUSDT` is `BTCUSDT`.
    static func withoutExchange(_ symbol: String) -> String {
        guard let colon = symbol.firstIndex(of: ":") else { return symbol }
        let name = symbol[symbol.index(after: colon)...]
        return name.isEmpty ? symbol : String(name)
    }
}

extension CellStyle {
    static let dimmed = CellStyle(.plain, .dim)
}

extension Freshness {
    var style: CellStyle {
        switch self {
        case .fresh: .dimmed
        case .late: CellStyle(.warning, .bold)
        case .old: CellStyle(.alarm, .bold)
        }
    }
}
