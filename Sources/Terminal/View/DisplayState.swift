import Market
import Measurements
import Wire

/// The direction of a price's last change.
enum PriceDirection: Sendable, Equatable {
    case none
    case up
    case down
}

/// The data of one symbol with a price.
struct DisplayRow: Sendable {
    var summary: SymbolSummary
    /// The arrival of the newest trade; monotonic clock, ns.
    var arrived: Int64
    var direction = PriceDirection.none
    var rate = DisplayRate()
    /// The filled trades that the next counts include, and the rate does not.
    var unrated: UInt64 = 0
    /// The number of trades that conflation has skipped in the session.
    var skipped: UInt64 = 0
    /// The number of fraction digits of the symbol's prices: the most that any of them has needed.
    var fractionDigits = 0
    /// The arrival of the trade with the displayed price; monotonic clock, ns; `nil` if it is not measured.
    var priceArrived: Int64?
    /// The time of the displayed price's last change (monotonic clock, ns), and the price before it.
    var changed: (at: Int64, from: ExactDecimal)?
    /// The session's prices, on the market's clock (``DisplayState/marketTime(_:)``).
    var history = PriceHistory()
    /// The session's volume at the newest price in the chart, where prices come without their trades.
    var chartedVolume: Double?
    /// The venue's own figures of the last 24 hours; `nil` where it gives none.
    var day: VenueDay?
    /// The price from which the change is counted without these.
    var reference: ChangeReference?
    /// An older price on the same clock, which is not in the chart's data.
    var lastKnown: (time: Int64, price: ExactDecimal)?
    /// The displayed prices, newest first.
    var tape = ShownPrices()
}

/// A warning that is displayed for a limited time.
struct DisplayNotice: Sendable, Equatable {
    /// The display time, ns.
    static let lifetime: Int64 = 30_000_000_000

    var text: String
    /// The time at which it appeared; monotonic clock, ns.
    var since: Int64
    /// Whether it stays until it is replaced.
    var isLasting = false

    /// Whether it is still displayed; monotonic ns.
    func isShown(at now: Int64) -> Bool { self.isLasting || now - self.since < Self.lifetime }
}

/// The complete contents of the screen, as a value.
///
/// ``DisplayModel`` makes it from the pipeline's updates, and ``DisplayView`` draws it.
package struct DisplayState: Sendable {
    /// One row per symbol, in the watchlist's order.
    var rows: [DisplayRow] = []
    /// The subscribed symbols without a price.
    var waiting: [String] = []
    var status: FeedStatus
    /// The age limits of prices, which apply when the feed reports nothing.
    var limits = FreshnessLimits()
    /// The status of single symbols, as the feed reports it.
    var symbolStates: [String: SymbolStatus] = [:]
    var gaps = 0
    var lastGap: Gap?
    /// The outcome of the last gap, if its missing trades have ids.
    var lastOutcome: GapOutcome?
    /// The relay of the screen's program, if there is one, and the number of its clients, if it is known.
    var relay: DisplayRelay?
    var clients: Int?
    /// The program's part in a cluster, if it is in one.
    var cluster: ClusterState?
    /// The recording of the screen's program, if there is one.
    var recording: DisplayRecording?
    /// How far the way from the demo to the live market is, in one line; `nil` before it begins.
    var liveStart: String?
    /// The newest warning, which may be too old to be displayed.
    var notice: DisplayNotice?
    /// The feed's events, oldest first; the producer limits their number.
    var events: [DisplayEvent] = []
    var alerts: [ListedAlert] = []
    /// The person's holdings.
    var holdings = Holdings()
    var news = DisplayNews.notAsked
    /// The open room, once something is known of it.
    var room: DisplayRoom?
    /// The position of the replay, if this is one.
    var replay: ReplayPosition?
    /// The pauses of the replay.
    var pauses = ReplayPauses()
    /// The feed's current facts behind a frozen screen; `nil` while this state is current.
    var behind: FeedFacts?
    /// The time at which the state was published, monotonic ns, and thus the newest moment that it covers; `nil` if it
    /// is unknown.
    var publishedAt: Int64?
    /// Whether charts follow the exchange's clock, as in a replay, and not the arrival's.
    var followsExchangeClock: Bool {
        switch self.status.source {
        case .live, .demo: false
        case .replay, .simulated: true
        }
    }
}
