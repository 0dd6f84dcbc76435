import Market

/// The texts of one worth on the screen.
struct WorthText {
    let worth: Worth
    let amounts: AmountText
    /// The name of the span of ``today``.
    let span: String
    /// The share in all holdings with a percent sign; empty if it is not known.
    let weight: String
    /// Whether all prices in it are up to date.
    let isFresh: Bool

    var quantity: String { self.amounts.quantity(self.worth.quantity) }
    var bareValue: String { self.amounts.amount(self.worth.value) }
    var value: String { "\(self.bareValue) \(self.worth.currency)" }
    var profit: String { self.amounts.amount(self.worth.profit, isSigned: true) }
    var namedProfit: String { self.percented(self.profit, since: self.worth.cost) }
    /// The profit since the beginning of the span, in percent, too.
    var percentedToday: String { self.percented(self.today, since: self.worth.dayBefore) }
    var today: String { self.amounts.amount(self.worth.today, isSigned: true) }
    /// The profit since the beginning of the span, with the name of the span.
    var namedToday: String { "\(self.today) \(self.span)" }

    private func percented(_ amount: String, since before: ExactSum) -> String {
        let percent = self.amounts.percent(self.worth.value, since: before)
        return percent.isEmpty ? amount : "\(amount) (\(percent))"
    }

    var quiet: CellStyle { self.isFresh ? .plain : .dimmed }
    var profitStyle: CellStyle { self.style(self.worth.profit) }
    var todayStyle: CellStyle { self.style(self.worth.today) }

    private func style(_ profit: ExactSum) -> CellStyle {
        guard self.isFresh, let profit = profit.rounded else { return .dimmed }
        return profit.isZero ? .plain : CellStyle(profit > .zero ? .rising : .falling)
    }
}
