import Market

/// What all parts of the screen draw with.
extension DisplayView {
    /// A text in several lengths, longest first, with its look.
    struct ScreenItem {
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

    /// Writes the items that fit, side by side, from `column` on; gives the form of each.
    @discardableResult
    mutating func place(
        _ items: [ScreenItem],
        wishes: [LineFitter.Wish],
        row: Int,
        column: Int = 0,
        limit: Int = .max,
        gap: Int
    ) -> [Int?] {
        let columns = min(self.grid.size.columns - column, limit)
        let widths = items.map { $0.forms.map { ScreenText.width(of: $0, limit: columns + 1, glyphs: self.glyphs) } }
        let chosen = LineFitter(gap: gap).choose(widths: widths, wishes: wishes, columns: columns)
        var column = column
        for (item, form) in chosen.enumerated() {
            guard let form else { continue }
            let text = items[item].forms[form]
            column += self.grid.put(text, row: row, column: column, style: items[item].style, glyphs: self.glyphs) + gap
        }
        return chosen
    }

    // MARK: Numbers

    /// A number as the settings want it written.
    func written(_ text: String) -> String { self.look.numbers.written(text) }

    /// The price with all its digits, as many as any price of the symbol needed.
    func price(_ row: DisplayRow) -> String { self.price(row.summary.price, row) }

    func price(_ price: ExactDecimal, _ row: DisplayRow) -> String {
        self.written(PriceText.exact(price, fractionDigits: row.fractionDigits))
    }

    /// The price with its arrow, longest form first; the last form says that it does not fit.
    func priceForms(_ row: DisplayRow) -> [String] {
        let price = self.price(row)
        let arrow = self.arrow(row.direction)
        return ["\(price) \(arrow)", "\(price)\(arrow)", price, self.glyphs == .unicode ? "…" : "~"]
    }

    func arrow(_ direction: PriceDirection) -> String {
        switch direction {
        case .none: " "
        case .up: self.glyphs == .unicode ? "▲" : "^"
        case .down: self.glyphs == .unicode ? "▼" : "v"
        }
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

    /// How long a price that has changed stands out, ns.
    static let flashLength: Int64 = 300_000_000

    /// From which character on the price differs from the one before, while that is to be seen; notes when it is over.
    mutating func flash(of row: DisplayRow, _ freshness: Freshness) -> Int? {
        guard self.look.flashes, freshness == .fresh, let changed = row.changed else { return nil }
        var left = changed.at + Self.flashLength - self.now.monotonic
        // Where frames are rare, it is over before it was seen: then it lasts until the next one.
        if left <= 0, let since, changed.at > since { left = 1 }
        guard left > 0, left <= Self.flashLength else { return nil }
        self.note(changeIn: left)
        let (new, old) = (self.price(row), self.price(changed.from, row))
        guard new.count == old.count else { return 0 }
        return zip(new, old).enumerated().first { $0.element.0 != $0.element.1 }?.offset
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

    static func symbolForms(_ symbol: String) -> [String] {
        let name = Self.withoutExchange(symbol)
        return [symbol, name, ScreenText.clean(name, columns: 6)]
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
