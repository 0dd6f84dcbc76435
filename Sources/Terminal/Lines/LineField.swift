import Market

/// A field of a price's line.
package enum LineField: String, Sendable, CaseIterable {
    case symbol
    case price
    case size
    /// The trade's exchange time.
    case time
    /// The arrival by this machine's clock, or the relay's.
    case received
    /// The trade's number on the tape.
    case sequence
    /// The feed's status, with the marks that must not be overlooked.
    case state
    /// The time from the trade's arrival to the writing of the line.
    case age
    /// The difference from the session's first price.
    case change
    /// The same in percent.
    case percent
    case open
    case high
    case low
    case volume
    case trades
    /// The number of trades left out since the previous price.
    case skipped
    /// Whether the replay that is the source is paused.
    case paused
    /// The origin of the trades (``FeedStatus/Source/word``).
    case source
    /// The quantity that the person holds, and the currency of the fields below.
    case quantity, currency
    /// The value of the holding, and its share in all of them in percent.
    case value, weight
    /// The difference from the cost, and the same in percent.
    case profit
    case profitPercent = "profit-percent"
    /// The difference from the holding's value at the beginning of ``span``, and the same in percent.
    case today
    case todayPercent = "today-percent"
    /// The span of these two: `24h` or `session`.
    case span

    /// Whether the field is about the person's holdings.
    private var isOfHoldings: Bool {
        switch self {
        case .quantity, .currency, .value, .weight, .profit, .profitPercent, .today, .todayPercent, .span: true
        case .symbol, .price, .size, .time, .received, .sequence, .state, .age, .change, .percent, .open, .high, .low,
            .volume, .trades, .skipped, .paused, .source:
            false
        }
    }

    /// Returns the fields that a format shows by default; empty for formats without fields.
    package static func usual(in style: LineFormat.Style) -> [LineField] {
        switch style {
        case .plain: [.time, .symbol, .price, .size, .state]
        case .csv: Self.allCases.filter { !$0.isOfHoldings }
        case .json: []
        }
    }

    /// Returns the fields that a format shows where `asked` are selected. The formats for programs always get the
    /// source, or a simulated price would look like one of the market. Plain lines have a mark instead.
    static func shown(_ asked: [LineField], in style: LineFormat.Style) -> [LineField] {
        guard !asked.isEmpty else { return self.usual(in: style) }
        return style == .plain || asked.contains(.source) ? asked : asked + [.source]
    }
}

/// A price with the values of its line's fields.
struct LinePrice {
    /// The unit of an age's three decimals, ns.
    private static let nanosecondsPerMillisecond: Int64 = 1_000_000

    let update: PriceUpdate
    /// The time since its trade's arrival, ns; `nil` where unknown.
    let age: Int64?
    /// The feed's status, with its marks, in the format's words.
    let state: String
    /// The feed's status.
    let status: FeedStatus
    /// The person's holding of the symbol, if there is one.
    var holding: LineHoldings.Holding?

    private var summary: SymbolSummary { self.update.summary }

    var change: ExactDecimal? { self.summary.price.subtracting(self.summary.open) }

    /// The change since the first price in percent, as a plain number; `nil` where it has no meaning.
    var percent: String? {
        Self.plain(PriceText.percent(self.summary.price, since: self.summary.open))
    }

    /// Returns a percentage as a plain number.
    private static func plain(_ percent: String?) -> String? {
        percent.map { String($0.drop { $0 == "+" }.dropLast()) }
    }

    /// Returns a sum with every digit; `nil` if it is not known.
    private static func exact(_ sum: ExactSum?) -> String? { sum.flatMap { $0.isWhole ? $0.description : nil } }

    private func percent(since before: ExactSum?) -> String? {
        guard let value = self.holding?.worth.value.rounded, let before = before?.rounded else { return nil }
        return Self.plain(PriceText.percent(value, since: before))
    }

    /// The age in seconds with three decimals.
    var ageInSeconds: String? {
        self.age.map { age in
            let milliseconds = max(age, 0) / Self.nanosecondsPerMillisecond
            let fraction = String(milliseconds % 1_000)
            return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
        }
    }

    /// Returns a field as text, exact where it is a number; `nil` where the value is unknown.
    func text(_ field: LineField) -> String? {
        switch field {
        case .symbol: self.summary.symbol
        case .price: "\(self.summary.price)"
        case .size: "\(self.summary.size)"
        case .time: UTCText.timestamp(self.summary.exchangeTime)
        case .received: UTCText.preciseTimestamp(self.summary.received)
        case .sequence: "\(self.summary.sequence)"
        case .state: self.state
        case .age: self.ageInSeconds
        case .change: self.change.map { "\($0)" }
        case .percent: self.percent
        case .open: "\(self.summary.open)"
        case .high: "\(self.summary.high)"
        case .low: "\(self.summary.low)"
        case .volume: self.summary.volume.isWhole ? "\(self.summary.volume)" : nil
        case .trades: "\(self.summary.trades)"
        case .skipped: "\(self.update.skipped)"
        case .paused: "\(self.status.isPaused)"
        case .source: self.status.source.word
        case .quantity: Self.exact(self.holding?.worth.quantity)
        case .currency: self.holding?.worth.currency
        case .value: Self.exact(self.holding?.worth.value)
        case .weight: self.holding?.weight.map { "\($0)" }
        case .profit: Self.exact(self.holding?.worth.profit)
        case .profitPercent: self.percent(since: self.holding?.worth.cost)
        case .today: Self.exact(self.holding?.worth.today)
        case .todayPercent: self.percent(since: self.holding?.worth.dayBefore)
        case .span: self.holding?.span
        }
    }
}

extension UTCText {
    /// ``timestamp(_:)`` with microseconds.
    fileprivate static func preciseTimestamp(_ nanoseconds: Int64) -> String {
        let rest = nanoseconds % 1_000_000
        let digits = String((rest < 0 ? rest + 1_000_000 : rest) / 1_000)
        return Self.timestamp(nanoseconds).dropLast() + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
    }
}
