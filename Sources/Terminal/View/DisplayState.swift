import Market
import Measurements

/// Where a price went with its last change.
enum PriceDirection: Sendable, Equatable {
    case none
    case up
    case down
}

/// What the display knows of one symbol that has a price.
struct DisplayRow: Sendable {
    var summary: SymbolSummary
    /// When the newest trade arrived; monotonic clock, ns.
    var arrived: Int64
    var direction = PriceDirection.none
    var rate = DisplayRate()
    /// Trades that the debounce left out, in the session.
    var skipped: UInt64 = 0
    /// Fraction digits that every price of the symbol is shown with: the most that any of them needed.
    var fractionDigits = 0
    /// When the trade arrived whose price is shown; monotonic clock, ns; `nil` where that is not measured.
    var priceArrived: Int64?
    /// When the price that is shown changed last, monotonic clock, ns, and what it was before.
    var changed: (at: Int64, from: ExactDecimal)?
    /// The session's prices, on the market's clock (``DisplayState/marketTime(_:)``).
    var history = PriceHistory()
    /// A price of long before, on the same clock, of which the chart knows nothing while there are no others of that time.
    var lastKnown: (time: Int64, price: ExactDecimal)?
    /// The prices that were shown, the newest first.
    var tape = ShownPrices()
}

/// A warning that is shown for a while.
struct DisplayNotice: Sendable, Equatable {
    /// How long it is shown, ns.
    static let lifetime: Int64 = 30_000_000_000

    var text: String
    /// When it came up; monotonic clock, ns.
    var since: Int64
    /// Whether it is shown for as long as it is there.
    var isLasting = false

    /// Whether it is still to be shown; monotonic ns.
    func isShown(at now: Int64) -> Bool { self.isLasting || now - self.since < Self.lifetime }
}

/// Everything that the screen shows, as a value.
///
/// ``DisplayModel`` makes one from the pipeline's news; ``DisplayView`` draws it.
package struct DisplayState: Sendable {
    /// One row a symbol, in the order of the screen.
    var rows: [DisplayRow] = []
    /// Subscribed symbols that have no price yet.
    var waiting: [String] = []
    var status: FeedStatus
    /// What goes by age where the feed says nothing.
    var limits = FreshnessLimits()
    /// What the feed says of single symbols.
    var symbolStates: [String: SymbolStatus] = [:]
    var gaps = 0
    var lastGap: Gap?
    /// The relay of the screen's program, if it is to have one, and how many clients it has, if that is known.
    var relay: DisplayRelay?
    var clients: Int?
    /// The newest warning, also when it is too old to be shown.
    var notice: DisplayNotice?
    /// What befell the feed, the oldest first; bounded by who fills it.
    var events: [DisplayEvent] = []
    var alerts: [ListedAlert] = []
    var news = DisplayNews.notAsked
    /// Where the replay stands, if it is one.
    var replay: ReplayPosition?
    /// When it stood still.
    var pauses = ReplayPauses()
    /// What is true of the feed now, behind a picture that is frozen; `nil` where this state is of now.
    var behind: FeedFacts?
    /// When it was given to the screen, monotonic ns: what has happened since then is not in it. `nil` where nobody says.
    var publishedAt: Int64?
    /// Whether charts follow the exchange's clock, as in a replay, and not the arrival's.
    var followsExchangeClock: Bool {
        switch self.status.source {
        case .live, .demo: false
        case .replay, .simulated: true
        }
    }
}
