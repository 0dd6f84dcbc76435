import Market

/// The contents of one line in the table of symbols.
struct PriceLine {
    /// The symbol, marked if it is selected; longest form first.
    var names: [String]
    var isSelected: Bool
    /// `nil` for a symbol without a price.
    var text: RowText?
    /// Trades per second.
    var rate = ""
    /// The texts of the symbol's holdings.
    var worth: WorthText?

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
    static func columns(
        isMarked: Bool,
        span: ChartSpan?,
        changeSpan: ChangeBase.Span?,
        hasHoldings: Bool = false
    ) -> [TableColumn<PriceLine>] {
        typealias Column = TableColumn<PriceLine>
        /// Returns a text of a line with a price.
        func said(_ text: @escaping (RowText) -> String?) -> (PriceLine) -> String {
            { $0.text.flatMap(text) ?? "" }
        }
        func look(_ style: @escaping (RowText) -> CellStyle) -> (PriceLine) -> CellStyle {
            { $0.text.map(style) ?? .plain }
        }
        func price(_ form: Int) -> (PriceLine) -> String { said { $0.prices[form] } }
        func blanks(_ count: Int) -> (PriceLine) -> String { said { _ in String(repeating: " ", count: count) } }
        let quiet = look(\.quietStyle)
        let change = look(\.changeStyle)
        let first: [Column] = [
            Column(
                isMarked ? " SYMBOL" : "SYMBOL",
                order: .symbol,
                isLeft: true,
                forms: [(18, { $0.names[0] }), (8, { $0.names[1] }), (1, { $0.names[2] })],
                style: { $0.isSelected ? CellStyle(.accent, .bold) : .plain }
            ),
            Column(
                "PRICE",
                order: .price,
                extra: .flash,
                forms: [(6, price(0)), (5, price(1)), (2, price(2)), (0, price(3))],
                style: look(\.priceStyle)
            ),
            Column(
                "AGE",
                order: .age,
                calmWidth: 9,
                forms: [(7, { $0.age(0) }), (4, { $0.age(1) }), (3, { $0.age(2) })],
                style: look(\.freshness.style)
            ),
            Column("CHANGE", calmWidth: 7, forms: [(13, said(\.change))], style: change),
            Column(
                changeSpan?.heading ?? "%",
                order: .change,
                calmWidth: 7,
                forms: [(10, said(changeSpan == nil ? \.namedPercent : \.percent))],
                style: change
            ),
        ]
        let chart = span.map { span in
            Column(
                span == .session ? "CHART" : span.word,
                isLeft: true,
                extra: .chart,
                forms: [(19, blanks(24)), (14, blanks(16)), (11, blanks(8))],
                style: change
            )
        }
        let rest: [Column] = [
            Column("HIGH", forms: [(15, said(\.high))], style: quiet),
            Column("LOW", forms: [(16, said(\.low))], style: quiet),
            Column("RATE/S", order: .rate, forms: [(12, \.rate)], style: quiet),
            Column("VOLUME", order: .volume, calmWidth: 9, forms: [(17, said(\.volume))], style: quiet),
            Column("SIZE", calmWidth: 10, forms: [(21, said(\.size))], style: quiet),
            Column("TRADES", calmWidth: 8, forms: [(22, said { "\($0.row.summary.trades)" })], style: quiet),
            Column("OPEN", forms: [(23, said(\.open))], style: quiet),
        ]
        return first + (hasHoldings ? Self.holdings(changeSpan) : []) + (chart.map { [$0] } ?? []) + rest
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
            Column("VALUE", order: .value, forms: [(11, said(\.value)), (9, said(\.bareValue))], style: look(\.quiet)),
            Column(
                "PROFIT",
                order: .profit,
                forms: [(12, said(\.namedProfit)), (10, said(\.profit))],
                style: look(\.profitStyle)
            ),
            Column(
                today,
                forms: [(13, said(changeSpan == nil ? \.namedToday : \.today))],
                style: look(\.todayStyle)
            ),
            Column("WEIGHT", forms: [(14, said(\.weight))], style: look(\.quiet)),
            Column("HOLDING", forms: [(17, said(\.quantity))], style: look(\.quiet)),
        ]
    }
}
