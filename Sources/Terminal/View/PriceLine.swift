import Market

/// The contents of one line in the table of symbols.
///
/// A class for the same reason as ``RowText``.
final class PriceLine {
    private let names: (whole: String, brief: String)
    private let short: String
    private let mark: String
    let isSelected: Bool
    /// `nil` for a symbol without a price.
    var text: RowText?
    /// Trades per second.
    var rate = ""
    /// The style of the symbol's name.
    var nameStyle = CellStyle.plain
    /// The person's words about the symbol.
    var note = ""
    /// The texts of the symbol's holdings.
    var worth: WorthText?

    /// - Parameters:
    ///   - names: the symbol with and without its exchange, as the column has room for them.
    ///   - short: the symbol without its exchange.
    ///   - mark: the sign before each form.
    init(names: (whole: String, brief: String), short: String, mark: String, isSelected: Bool) {
        self.names = names
        self.short = short
        self.mark = mark
        self.isSelected = isSelected
    }

    /// Returns a form of the name; the longest one has number 0.
    fileprivate func name(form: Int) -> String {
        switch form {
        case 0: self.mark + self.names.whole
        case 1: self.mark + self.names.brief
        default: self.mark + ScreenText.clean(self.short, columns: form == 2 ? 6 : 3)
        }
    }

    /// Returns a form of the age. A fresh age has no short form and disappears before a warning does.
    fileprivate func age(_ form: Int) -> String {
        guard let text else { return "" }
        guard text.freshness == .fresh else { return text.ages[text.ages.count - 3 + form] }
        return form == 0 ? text.ages[1] : ""
    }

    /// Returns the columns, left to right.
    ///
    /// - Parameters:
    ///   - isMarked: whether one line is marked as selected.
    ///   - span: the time range of the charts; `nil` for no chart.
    ///   - changeSpan: the span of all lines' changes; `nil` if each line names its own.
    ///   - hasHoldings: whether any line has holdings.
    ///   - chosen: the columns to draw, in order; all of them if this is empty.
    static func columns(
        isMarked: Bool,
        span: ChartSpan?,
        changeSpan: ChangeBase.Span?,
        hasHoldings: Bool = false,
        chosen: [DisplayColumn] = []
    ) -> [TableColumn<PriceLine>] {
        typealias Column = TableColumn<PriceLine>
        /// Returns a text of a line with a price.
        func said(_ text: @escaping (RowText) -> String?) -> (PriceLine) -> String {
            { $0.text.flatMap(text) ?? "" }
        }
        func look(_ style: @escaping (RowText) -> CellStyle) -> (PriceLine) -> CellStyle {
            { $0.text.map(style) ?? .plain }
        }
        func price(_ form: Int) -> (PriceLine) -> String { said { $0.price(form: form) } }
        func name(_ form: Int) -> (PriceLine) -> String { { $0.name(form: form) } }
        func blanks(_ count: Int) -> (PriceLine) -> String {
            let text = String(repeating: " ", count: count)
            return said { _ in text }
        }
        let quiet = look(\.quietStyle)
        let change = look(\.changeStyle)
        let first: [Column] = [
            Column(
                isMarked ? " SYMBOL" : "SYMBOL",
                name: .symbol,
                order: .symbol,
                isLeft: true,
                forms: [(19, name(0)), (9, name(1)), (4, name(2)), (3, name(3))],
                style: \.nameStyle
            ),
            Column(
                "PRICE",
                name: .price,
                order: .price,
                extra: .flash,
                forms: [(7, price(0)), (6, price(1)), (1, price(2)), (0, price(3))],
                style: look(\.priceStyle)
            ),
            Column(
                "AGE",
                name: .age,
                order: .age,
                calmWidth: 9,
                forms: [(8, { $0.age(0) }), (5, { $0.age(1) }), (2, { $0.age(2) })],
                style: look(\.freshness.style)
            ),
            Column("CHANGE", name: .change, calmWidth: 7, forms: [(14, said(\.change))], style: change),
            Column(
                changeSpan?.heading ?? "%",
                name: .percent,
                order: .change,
                calmWidth: 7,
                forms: [(11, said(changeSpan == nil ? \.namedPercent : \.percent))],
                style: change
            ),
        ]
        let chart = span.map { span in
            Column(
                span == .session ? "CHART" : span.word,
                name: .chart,
                isLeft: true,
                extra: .chart,
                forms: [(20, blanks(24)), (15, blanks(16)), (12, blanks(8))],
                style: change
            )
        }
        let rest: [Column] = [
            Column("HIGH", name: .high, forms: [(16, said(\.high))], style: quiet),
            Column("LOW", name: .low, forms: [(17, said(\.low))], style: quiet),
            Column("RATE/S", name: .rate, order: .rate, forms: [(13, \.rate)], style: quiet),
            Column("VOLUME", name: .volume, order: .volume, calmWidth: 9, forms: [(18, said(\.volume))], style: quiet),
            Column("SIZE", name: .size, calmWidth: 10, forms: [(22, said(\.size))], style: quiet),
            Column(
                "TRADES",
                name: .trades,
                calmWidth: 8,
                forms: [(23, said { "\($0.row.summary.trades)" })],
                style: quiet
            ),
            Column(
                "NOTE",
                name: .note,
                isLeft: true,
                forms: [(27, \.note), (26, Self.brief(24)), (25, Self.brief(12))],
                style: quiet
            ),
            Column("OPEN", name: .open, forms: [(24, said(\.open))], style: quiet),
        ]
        let all = first + (hasHoldings ? Self.holdings(changeSpan) : []) + (chart.map { [$0] } ?? []) + rest
        return chosen.isEmpty ? all : Self.arranged(all, chosen)
    }

    /// Returns the chosen columns in their order. A price that is not up to date says so, without the column of ages too.
    private static func arranged(
        _ all: [TableColumn<PriceLine>],
        _ chosen: [DisplayColumn]
    ) -> [TableColumn<PriceLine>] {
        let chosen = DisplayColumn.completed(chosen)
        return chosen.flatMap { name -> [TableColumn<PriceLine>] in
            var columns = all.filter { $0.name == name }
            if name == .price, !chosen.contains(.age), var warnings = all.first(where: { $0.name == .age }) {
                warnings.forms.removeFirst()
                (warnings.heading, warnings.calmWidth, warnings.order) = ("", 0, nil)
                columns.append(warnings)
            }
            return columns
        }
    }

    /// Returns the note in few columns.
    private static func brief(_ columns: Int) -> (PriceLine) -> String {
        { ScreenText.clean($0.note, columns: columns) }
    }

    /// Returns the columns of holdings.
    private static func holdings(_ changeSpan: ChangeBase.Span?) -> [TableColumn<PriceLine>] {
        typealias Column = TableColumn<PriceLine>
        func said(_ text: @escaping (WorthText) -> String) -> (PriceLine) -> String { { $0.worth.map(text) ?? "" } }
        func look(_ style: @escaping (WorthText) -> CellStyle) -> (PriceLine) -> CellStyle {
            { $0.worth.map(style) ?? .plain }
        }
        let today = changeSpan.map { "\($0.heading) PROFIT" } ?? "PROFIT SINCE"
        return [
            Column(
                "VALUE",
                name: .value,
                order: .value,
                forms: [(12, said(\.value)), (10, said(\.bareValue))],
                style: look(\.quiet)
            ),
            Column(
                "PROFIT",
                name: .profit,
                order: .profit,
                forms: [(13, said(\.namedProfit)), (11, said(\.profit))],
                style: look(\.profitStyle)
            ),
            Column(
                today,
                name: .today,
                forms: [(14, said(changeSpan == nil ? \.namedToday : \.today))],
                style: look(\.todayStyle)
            ),
            Column("WEIGHT", name: .weight, forms: [(15, said(\.weight))], style: look(\.quiet)),
            Column("HOLDING", name: .holding, forms: [(18, said(\.quantity))], style: look(\.quiet)),
        ]
    }
}
