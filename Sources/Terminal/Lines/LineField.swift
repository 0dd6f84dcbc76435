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

    /// Returns the fields that a format shows by default; empty for formats without fields.
    package static func usual(in style: LineFormat.Style) -> [LineField] {
        switch style {
        case .plain: [.time, .symbol, .price, .size, .state]
        case .csv: Self.allCases
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

    private var summary: SymbolSummary { self.update.summary }

    var change: ExactDecimal? { self.summary.price.subtracting(self.summary.open) }

    /// The change since the first price in percent, as a plain number; `nil` where it has no meaning.
    var percent: String? {
        PriceText.percent(self.summary.price, since: self.summary.open).map { text in
            String(text.drop { $0 == "+" }.dropLast())
        }
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
