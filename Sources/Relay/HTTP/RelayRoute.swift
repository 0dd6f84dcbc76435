import NIOHTTP1

/// A path of the relay's HTTP API. This is the only table of the paths and of the methods that each allows.
enum RelayRoute: Sendable {
    /// A file of the page.
    case page(PageAnswer)
    /// Whether the program runs, for a supervisor; independent of the feed.
    case liveness
    /// Whether the data is fresh.
    case readiness
    case metrics
    case status
    /// When the feed was live, over restarts.
    case uptime
    /// The completeness of each symbol and hour of the tape.
    case completeness
    /// The newest prices of all symbols.
    case snapshot
    /// The newest price of one symbol. The symbol is percent-encoded as in the path, here and below.
    case symbolSnapshot(Substring)
    case trades(Substring)
    case bars(Substring)
    /// Finnhub's headlines, by publisher and by text.
    case news
    /// Finnhub's symbols, by exchange and by text.
    case symbols
    case replay
    /// The comparison of Finnhub's trades with those of their venues.
    case audit
    /// The holdings and groups of the relay's person.
    case holdings
    /// The settings in force.
    case settings

    /// The paths without a symbol, besides those of the page.
    private static let fixed: [(path: String, route: RelayRoute)] = [
        ("/livez", .liveness), ("/readyz", .readiness), ("/metrics", .metrics), ("/v1/status", .status),
        ("/v1/uptime", .uptime),
        ("/v1/completeness", .completeness), ("/v1/snapshot", .snapshot), ("/v1/news", .news),
        ("/v1/symbols", .symbols), ("/v1/replay", .replay), ("/v1/audit", .audit),
        ("/v1/holdings", .holdings), ("/v1/settings", .settings),
    ]
    /// The paths that a symbol follows.
    private static let ofSymbols: [(path: String, route: @Sendable (Substring) -> RelayRoute)] = [
        ("/v1/snapshot", { .symbolSnapshot($0) }), ("/v1/trades", { .trades($0) }), ("/v1/bars", { .bars($0) }),
    ]

    /// All paths but those of the page's files, with `SYMBOL` in the place of a symbol.
    static var paths: [String] {
        ["/"] + Self.fixed.map { $0.path } + Self.ofSymbols.map { "\($0.path)/SYMBOL" }
    }

    /// - Parameter path: a request's path without its query. Empty segments are ignored.
    init?(_ path: Substring) {
        let segments = path.split(separator: "/")
        guard path.hasPrefix("/"), segments.count <= 3 else { return nil }
        let place = "/" + segments.prefix(2).joined(separator: "/")
        if segments.count == 3 {
            guard let found = Self.ofSymbols.first(where: { $0.path == place }) else { return nil }
            self = found.route(segments[2])
        } else if let found = Self.fixed.first(where: { $0.path == place }) {
            self = found.route
        } else {
            guard let page = PageAnswer.all[place] else { return nil }
            self = .page(page)
        }
    }

    /// The allowed methods besides `OPTIONS`, which every path allows.
    var methods: [HTTPMethod] {
        switch self {
        case .replay: [.GET, .HEAD, .POST]
        case .page, .liveness, .readiness, .metrics, .status, .uptime, .completeness, .snapshot, .symbolSnapshot,
            .trades, .bars, .news, .symbols, .audit, .holdings, .settings:
            [.GET, .HEAD]
        }
    }
}
