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
    /// The newest prices of all symbols.
    case snapshot
    /// The newest price of one symbol. The symbol is percent-encoded as in the path, here and below.
    case symbolSnapshot(Substring)
    case trades(Substring)
    case bars(Substring)
    case replay

    /// - Parameter path: a request's path without its query. Empty segments are ignored.
    init?(_ path: Substring) {
        let segments = path.split(separator: "/")
        guard path.hasPrefix("/"), segments.count <= 3 else { return nil }
        let symbol = segments.count == 3 ? segments[2] : nil
        switch ("/" + segments.prefix(2).joined(separator: "/"), symbol) {
        case ("/livez", nil): self = .liveness
        case ("/readyz", nil): self = .readiness
        case ("/metrics", nil): self = .metrics
        case ("/v1/status", nil): self = .status
        case ("/v1/snapshot", nil): self = .snapshot
        case ("/v1/snapshot", let symbol?): self = .symbolSnapshot(symbol)
        case ("/v1/trades", let symbol?): self = .trades(symbol)
        case ("/v1/bars", let symbol?): self = .bars(symbol)
        case ("/v1/replay", nil): self = .replay
        case (let path, nil):
            guard let page = PageAnswer.all[path] else { return nil }
            self = .page(page)
        case (_, _?): return nil
        }
    }

    /// The allowed methods besides `OPTIONS`, which every path allows.
    var methods: [HTTPMethod] {
        switch self {
        case .replay: [.GET, .HEAD, .POST]
        case .page, .liveness, .readiness, .metrics, .status, .snapshot, .symbolSnapshot, .trades, .bars: [.GET, .HEAD]
        }
    }
}
