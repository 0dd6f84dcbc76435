/// One thing that goes wrong, or that a venue does on purpose. Times are in ns.
package enum Fault: Sendable, Equatable {
    package enum Cut: Sendable, Equatable {
        case fin, reset
        case close(UInt16)
        /// In the middle of the next frame.
        case midFrame
    }

    package enum Outage: Sendable, Equatable {
        case unreachable, down
        case tooMany(retryAfter: Int64)
        /// No answer comes for ten seconds.
        case hangs
    }

    package enum Return: Sendable, Equatable {
        /// The trades come over the WebSocket this much later.
        case late(Int64)
        /// They are only in the answers of the REST service.
        case restOnly
        /// Nobody ever gets them.
        case never
    }

    package enum REST: Sendable, Equatable {
        case tooMany(retryAfter: Int64)
        case banned(retryAfter: Int64)
        case down, html, forbidden, cutAnswer, unreachable
        /// No answer comes before the client's limit.
        case silent
        /// Answers take this long.
        case slow(Int64)
        /// Answers are this much older than the live feed.
        case lag(Int64)
        /// Answers have at most this many trades.
        case short(Int)
    }

    /// All connections end.
    case cut(Cut)
    /// All connections end, and none is opened for a time.
    case outage(Outage, Int64)
    /// Nothing passes for a time; then all of it comes at once.
    case stall(Int64)
    /// Nothing passes any more on the present connections, which nobody closes.
    case freeze
    /// The last frames come again.
    case repeats(Int)
    /// The next frames come in another order.
    case reorder(Int)
    /// The next trades do not come in their turn.
    case withhold(Int, Return)
    /// Binance announces the end of the present connections, which comes after a time.
    case rotation(Int64)
    /// The REST service has a fault for a time.
    case rest(REST, Int64)
    /// The program is killed, and starts again after a time.
    case kill(Int64)

    /// The kind as one word, for the counts of a report.
    package var kind: String {
        switch self {
        case .cut(.fin): "cut-fin"
        case .cut(.reset): "cut-reset"
        case .cut(.close): "cut-close"
        case .cut(.midFrame): "cut-mid-frame"
        case .outage(.unreachable, _): "outage-unreachable"
        case .outage(.down, _): "outage-503"
        case .outage(.tooMany, _): "outage-429"
        case .outage(.hangs, _): "outage-hangs"
        case .stall: "stall"
        case .freeze: "freeze"
        case .repeats: "repeats"
        case .reorder: "reorder"
        case .withhold(_, .late): "withheld-late"
        case .withhold(_, .restOnly): "withheld-to-rest"
        case .withhold(_, .never): "withheld-for-ever"
        case .rotation: "rotation"
        case .rest(.tooMany, _): "rest-429"
        case .rest(.banned, _): "rest-418"
        case .rest(.down, _): "rest-503"
        case .rest(.html, _): "rest-html"
        case .rest(.forbidden, _): "rest-403"
        case .rest(.cutAnswer, _): "rest-cut"
        case .rest(.unreachable, _): "rest-unreachable"
        case .rest(.silent, _): "rest-silent"
        case .rest(.slow, _): "rest-slow"
        case .rest(.lag, _): "rest-lag"
        case .rest(.short, _): "rest-short"
        case .kill: "kill"
        }
    }

    /// The kinds that are no single event: connections that the venue ends by their age, and hosts that have market data
    /// only.
    static let rotationByAge = "rotation-by-age"
    static let narrowHost = "narrow-host"

    /// All kinds that a report must count.
    package static let kinds: [String] = [
        "cut-fin", "cut-reset", "cut-close", "cut-mid-frame", "outage-unreachable", "outage-503", "outage-429",
        "outage-hangs", "stall", "freeze", "repeats", "reorder", "withheld-late", "withheld-to-rest",
        "withheld-for-ever", "rotation", Self.rotationByAge, Self.narrowHost, "rest-429", "rest-418", "rest-503",
        "rest-html", "rest-403", "rest-cut",
        "rest-unreachable", "rest-silent", "rest-slow", "rest-lag", "rest-short", "kill",
    ]
}
