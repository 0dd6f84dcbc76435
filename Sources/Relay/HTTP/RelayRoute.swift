import NIOHTTP1

/// An address of the relay's HTTP. This is the one table of those that there are, and of the methods that each takes.
enum RelayRoute: Sendable {
    /// A file of the page.
    case page(PageAnswer)
    /// Whether the program runs, whatever the feed does; for a supervisor.
    case liveness
    /// Whether the data is fresh.
    case readiness
    case metrics
    case status
    /// The newest of all symbols.
    case snapshot
    /// The newest of one symbol, which is still encoded as in the path, here and below.
    case symbolSnapshot(Substring)
    case trades(Substring)
    case bars(Substring)
    case replay

    /// - Parameter path: a request's, without its query. Empty segments of it count for nothing.
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

    /// The methods beside `OPTIONS`, which all take.
    var methods: [HTTPMethod] {
        switch self {
        case .replay: [.GET, .HEAD, .POST]
        case .page, .liveness, .readiness, .metrics, .status, .snapshot, .symbolSnapshot, .trades, .bars: [.GET, .HEAD]
        }
    }
}
