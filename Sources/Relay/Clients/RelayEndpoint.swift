/// What a WebSocket client speaks, by the path it asked for.
enum RelayEndpoint: Sendable, Equatable {
    /// Finnhub's own protocol: every trade.
    case trades
    /// The pipeline's prices: debounced, without unchanged ones.
    case stream

    init?(path: some StringProtocol) {
        switch path {
        case "/": self = .trades
        case "/v1/stream": self = .stream
        default: return nil
        }
    }
}
