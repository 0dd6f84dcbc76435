package import Market
package import Measurements

/// Where a price went with its last change.
package enum PriceDirection: Sendable, Equatable {
    case none
    case up
    case down
}

/// What the display knows of one symbol that has a price.
package struct DisplayRow: Sendable {
    package var summary: SymbolSummary
    /// When the newest trade arrived; monotonic clock, ns.
    package var arrived: Int64
    package var direction: PriceDirection
    package var rate: DisplayRate
    /// Trades that the debounce left out, in the session.
    package var skipped: UInt64
    /// Fraction digits that every price of the symbol is shown with: the most that any of them needed.
    package var fractionDigits: Int
    /// When the trade arrived whose price is shown; monotonic clock, ns; `nil` where that is not measured.
    package var priceArrived: Int64?
    /// When the price that is shown changed last, monotonic clock, ns, and what it was before.
    package var changed: (at: Int64, from: ExactDecimal)?
    /// The session's prices, on the market's clock (``DisplayState/marketTime(_:)``).
    package var history = PriceHistory()
    /// A price of long before, on the same clock, of which the chart knows nothing while there are no others of that time.
    package var lastKnown: (time: Int64, price: ExactDecimal)?
    /// The prices that were shown, the newest first.
    package var tape = ShownPrices()

    package init(
        summary: SymbolSummary,
        arrived: Int64,
        direction: PriceDirection = .none,
        rate: DisplayRate = DisplayRate(),
        skipped: UInt64 = 0,
        fractionDigits: Int = 0
    ) {
        self.summary = summary
        self.arrived = arrived
        self.direction = direction
        self.rate = rate
        self.skipped = skipped
        self.fractionDigits = fractionDigits
    }
}

/// A warning that is shown for a while.
package struct DisplayNotice: Sendable, Equatable {
    /// How long it is shown, ns.
    package static let lifetime: Int64 = 30_000_000_000

    package var text: String
    /// When it came up; monotonic clock, ns.
    package var since: Int64
    /// Whether it is shown for as long as it is there.
    package var isLasting: Bool

    package init(text: String, since: Int64, isLasting: Bool = false) {
        self.text = text
        self.since = since
        self.isLasting = isLasting
    }

    /// Whether it is still to be shown; monotonic ns.
    func isShown(at now: Int64) -> Bool { self.isLasting || now - self.since < Self.lifetime }
}

/// Everything that the screen shows, as a value.
///
/// ``DisplayModel`` makes one from the pipeline's news; ``DisplayView`` draws it.
package struct DisplayState: Sendable {
    /// One row a symbol, in the order of the screen.
    package var rows: [DisplayRow]
    /// Subscribed symbols that have no price yet.
    package var waiting: [String]
    package var status: FeedStatus
    /// What goes by age where the feed says nothing.
    package var limits = FreshnessLimits()
    /// What the feed says of single symbols.
    package var symbolStates: [String: SymbolStatus] = [:]
    package var gaps: Int
    package var lastGap: Gap?
    /// The relay of the screen's program, if it is to have one, and how many clients it has, if that is known.
    package var relay: DisplayRelay?
    package var clients: Int?
    /// The newest warning, also when it is too old to be shown.
    package var notice: DisplayNotice?
    /// What befell the feed, the oldest first; bounded by who fills it.
    package var events: [DisplayEvent] = []
    package var alerts: [ListedAlert] = []
    package var news = DisplayNews.notAsked
    /// Where the replay stands, if it is one.
    package var replay: ReplayPosition?
    /// When it stood still.
    package var pauses = ReplayPauses()
    /// What is true of the feed now, behind a picture that is frozen; `nil` where this state is of now.
    package var behind: FeedFacts?
    /// When it was given to the screen, monotonic ns: what has happened since then is not in it. `nil` where nobody says.
    package var publishedAt: Int64?
    /// Whether charts follow the exchange's clock, as in a replay, and not the arrival's.
    package var followsExchangeClock: Bool {
        switch self.status.source {
        case .live, .demo: false
        case .replay, .simulated: true
        }
    }

    package init(
        rows: [DisplayRow] = [],
        waiting: [String] = [],
        status: FeedStatus,
        gaps: Int = 0,
        lastGap: Gap? = nil,
        relay: DisplayRelay? = nil,
        clients: Int? = nil,
        notice: DisplayNotice? = nil
    ) {
        self.rows = rows
        self.waiting = waiting
        self.status = status
        self.gaps = gaps
        self.lastGap = lastGap
        self.relay = relay
        self.clients = clients
        self.notice = notice
    }
}
