import Market

/// The words and looks of one row at one moment.
struct RowText {
    let row: DisplayRow
    let freshness: Freshness
    /// How old the price is, longest form first.
    let ages: [String]
    /// Whether an old price is struck out.
    private let isStruck: Bool
    let look: DisplayLook
    /// The price with all its digits, as many as any price of the symbol needed.
    let price: String

    init(_ row: DisplayRow, _ freshness: Freshness, ages: [String], isStruck: Bool, look: DisplayLook) {
        self.row = row
        self.freshness = freshness
        self.ages = ages
        self.isStruck = freshness == .old && isStruck
        self.look = look
        self.price = look.written(row.summary.price, fractionDigits: row.fractionDigits)
    }

    private var summary: SymbolSummary { self.row.summary }

    func text(_ price: ExactDecimal) -> String { self.look.written(price, fractionDigits: self.row.fractionDigits) }

    // MARK: Words

    var high: String { self.text(self.summary.high) }
    var low: String { self.text(self.summary.low) }
    var open: String { self.text(self.summary.open) }
    var size: String { self.look.written(self.summary.size) }
    var volume: String { self.look.written(PriceText.shortened(self.summary.volume)) }

    /// The price with its arrow, longest form first; the last form says that it does not fit.
    var prices: [String] {
        let arrow = self.look.glyphs.arrow(self.row.direction)
        return ["\(self.price) \(arrow)", "\(self.price)\(arrow)", self.price, self.look.glyphs.sign("…", "~")]
    }

    /// The change since the session's start; `nil` where it cannot be held.
    var change: String? {
        PriceText.change(self.summary.price, since: self.summary.open, fractionDigits: self.row.fractionDigits)
            .map(self.look.written)
    }

    /// The same in percent.
    var percent: String? { self.percent(since: self.summary.open) }

    func percent(since price: ExactDecimal) -> String? {
        PriceText.percent(self.summary.price, since: price).map(self.look.written)
    }

    /// The change, absolute and in percent, as far as it can be said; longest form first.
    var changes: [String] {
        switch (self.change, self.percent) {
        case (.some(let change), .some(let percent)): ["\(change) (\(percent))", "\(change) \(percent)", percent]
        case (let change, let percent): [change ?? percent].compactMap(\.self)
        }
    }

    // MARK: Looks

    var priceStyle: CellStyle {
        guard self.freshness == .fresh else { return CellStyle(.plain, self.isStruck ? [.dim, .struck] : .dim) }
        return switch self.row.direction {
        case .none: CellStyle(.plain, .bold)
        case .up: CellStyle(.rising, .bold)
        case .down: CellStyle(.falling, .bold)
        }
    }

    var changeStyle: CellStyle { self.style(since: self.summary.open) }

    /// The look of a change from `price` to the price of now.
    func style(since price: ExactDecimal) -> CellStyle {
        guard self.freshness == .fresh else { return .dimmed }
        if self.summary.price == price { return .plain }
        return CellStyle(self.summary.price > price ? .rising : .falling)
    }

    /// The look of what is neither good nor bad news.
    var quietStyle: CellStyle { self.freshness == .fresh ? .plain : .dimmed }
}

extension DisplayLook {
    /// Writes a number as the settings want it.
    func written(_ text: String) -> String { self.numbers.written(text) }

    func written(_ number: ExactDecimal, fractionDigits: Int = 0) -> String {
        self.written(PriceText.exact(number, fractionDigits: fractionDigits))
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
