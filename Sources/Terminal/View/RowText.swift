import Market

/// The texts and styles of one row at one moment.
///
/// A class, because the columns of a table pass it on some ten times a picture, and a copy of the row's parts was a
/// tenth of the program's work.
final class RowText {
    let row: DisplayRow
    let freshness: Freshness
    /// The age of the price, longest form first.
    let ages: [String]
    /// Whether an old price is struck out.
    private let isStruck: Bool
    let look: DisplayLook
    /// What the change is counted from.
    let base: ChangeBase
    /// The price with the symbol's number of fraction digits.
    let price: String

    init(
        _ row: DisplayRow,
        _ freshness: Freshness,
        ages: [String],
        isStruck: Bool,
        look: DisplayLook,
        base: ChangeBase
    ) {
        self.row = row
        self.freshness = freshness
        self.ages = ages
        self.isStruck = freshness == .old && isStruck
        self.look = look
        self.base = base
        self.price = look.written(row.summary.price, fractionDigits: row.fractionDigits)
    }

    private var summary: SymbolSummary { self.row.summary }

    /// The price with its arrow, longest form first. The last form is the sign for a price that does not fit.
    var prices: [String] { (0...3).map { self.price(form: $0) } }

    func price(form: Int) -> String {
        switch form {
        case 0: "\(self.price) \(self.look.glyphs.arrow(self.row.direction))"
        case 1: "\(self.price)\(self.look.glyphs.arrow(self.row.direction))"
        case 2: self.price
        default: self.look.glyphs.sign("…", "~")
        }
    }

    func text(_ price: ExactDecimal) -> String { self.look.written(price, fractionDigits: self.row.fractionDigits) }

    // MARK: Words

    var high: String { self.text(self.summary.high) }
    var low: String { self.text(self.summary.low) }
    var open: String { self.text(self.summary.open) }
    var size: String { self.look.written(self.summary.size) }
    var volume: String { self.look.written(PriceText.shortened(self.summary.volume)) }

    /// The change from the base; `nil` on overflow.
    var change: String? {
        PriceText.change(self.summary.price, since: self.base.price, fractionDigits: self.row.fractionDigits)
            .map(self.look.written)
    }

    /// The same in percent.
    var percent: String? { self.percent(since: self.base.price) }

    /// The same with the name of its span.
    var namedPercent: String? { self.percent.map { "\($0) \(self.base.span.word)" } }

    func percent(since price: ExactDecimal) -> String? {
        PriceText.percent(self.summary.price, since: price).map(self.look.written)
    }

    /// The change, absolute and in percent, if known, and since when; longest form first.
    var changes: [String] {
        let forms =
            switch (self.change, self.percent) {
            case (.some(let change), .some(let percent)):
                ["\(change) (\(percent))", "\(change) \(percent)", percent]
            case (let change, let percent): [change ?? percent].compactMap(\.self)
            }
        return forms.map { "\($0) \(self.base.span.word)" }
    }

    // MARK: Looks

    /// The style of the price: its arrow shows the direction, and colours are those of changes.
    var priceStyle: CellStyle {
        guard self.freshness == .fresh else { return CellStyle(.plain, self.isStruck ? [.dim, .struck] : .dim) }
        return CellStyle(.plain, .bold)
    }

    var changeStyle: CellStyle { self.style(since: self.base.price) }

    /// Returns the style of a change from `price` to the current price.
    func style(since price: ExactDecimal) -> CellStyle {
        guard self.freshness == .fresh else { return .dimmed }
        if self.summary.price == price { return .plain }
        return CellStyle(self.summary.price > price ? .rising : .falling)
    }

    /// The style of neutral values.
    var quietStyle: CellStyle { self.freshness == .fresh ? .plain : .dimmed }
}

extension DisplayLook {
    /// Formats a number as the settings require.
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
