/// The protocol that a frame is written in. Only a dialect's own folders parse its bytes or pass them on.
package enum FrameDialect: UInt8, Sendable, CaseIterable {
    case finnhub
    /// Tickertape's own protocol, as on `/v1/stream`.
    case tickertape
    /// Binance's combined streams of its spot market.
    case binance
    /// Coinbase Exchange's feed.
    case coinbase
    /// Kraken's WebSocket API, version 2.
    case kraken

    /// The name in recordings and in commands: at most 32 bytes, none of which JSON needs to escape.
    package var name: StaticString {
        switch self {
        case .finnhub: "finnhub"
        case .tickertape: "tickertape"
        case .binance: "binance"
        case .coinbase: "coinbase"
        case .kraken: "kraken"
        }
    }

    /// Finds a dialect by its name; `nil` for a name that this program does not know.
    package init?(name: some StringProtocol) {
        guard let found = Self.allCases.first(where: { "\($0.name)" == name }) else { return nil }
        self = found
    }
}
