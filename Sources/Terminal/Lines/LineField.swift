import Market

/// One thing that a line can say of a price.
package enum LineField: String, Sendable, CaseIterable {
    case symbol
    case price
    case size
    /// The exchange's clock.
    case time
    /// Our clock, or the relay's, at the arrival.
    case received
    /// The trade's number on the tape.
    case sequence
    /// What is true of the feed, and the marks that nobody may miss.
    case state
    /// How long ago the trade arrived when the line was written.
    case age
    /// Against the session's first price.
    case change
    /// The same in percent.
    case percent
    case open
    case high
    case low
    case volume
    case trades
    /// Trades that were left out since the price before.
    case skipped
    /// Whether the replay behind it stands still.
    case paused
    /// Where the trades come from (``FeedStatus/Source/word``).
    case source

    /// What a format shows where nothing else is asked for; none for formats that have no fields.
    package static func usual(in style: LineFormat.Style) -> [LineField] {
        switch style {
        case .plain: [.time, .symbol, .price, .size, .state]
        case .csv: Self.allCases
        case .json: []
        }
    }

    /// What a format shows where these are asked for. Programs always hear where a price comes from: one that is not the
    /// market's would look like one that is. In plain lines a mark says it.
    static func shown(_ asked: [LineField], in style: LineFormat.Style) -> [LineField] {
        guard !asked.isEmpty else { return self.usual(in: style) }
        return style == .plain || asked.contains(.source) ? asked : asked + [.source]
    }
}

/// A price with what a line may say beside it.
struct LinePrice {
    /// Seconds with so many decimals are exact enough for an age.
    private static let nanosecondsPerMillisecond: Int64 = 1_000_000

    let update: PriceUpdate
    /// How long ago its trade arrived, ns; `nil` where that is not known.
    let age: Int64?
    /// The feed's state, with its marks, as the format writes it.
    let state: String
    /// What is true of the feed.
    let status: FeedStatus

    private var summary: SymbolSummary { self.update.summary }

    var change: ExactDecimal? { self.summary.price.subtracting(self.summary.open) }

    /// The change since the first price in percent, as a plain number; `nil` where it has no meaning.
    var percent: String? {
        PriceText.percent(self.summary.price, since: self.summary.open).map { text in
            String(text.drop { $0 == "+" }.dropLast())
        }
    }

    /// Seconds with three decimals.
    var ageInSeconds: String? {
        self.age.map { age in
            let milliseconds = max(age, 0) / Self.nanosecondsPerMillisecond
            let fraction = String(milliseconds % 1_000)
            return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
        }
    }

    /// A field as text, exact where it is a number; `nil` for what is not known.
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
