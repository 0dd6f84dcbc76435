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
    /// Exchanges with the venues' REST services: a request for earlier trades and its answer (``VenueExchange``).
    case binanceREST
    case coinbaseREST
    case krakenREST

    /// The name in recordings and in commands: at most 32 bytes, none of which JSON needs to escape.
    package var name: StaticString {
        switch self {
        case .finnhub: "finnhub"
        case .tickertape: "tickertape"
        case .binance: "binance"
        case .coinbase: "coinbase"
        case .kraken: "kraken"
        case .binanceREST: "binance-rest"
        case .coinbaseREST: "coinbase-rest"
        case .krakenREST: "kraken-rest"
        }
    }

    /// The dialect of the connection beside which an exchange stands; the dialect itself for a message.
    package var ofConnection: FrameDialect { self.answering?.dialect ?? self }

    /// Whether each trade has an id, which proves what the tape leaves out.
    package var hasIDs: Bool {
        switch self {
        case .finnhub, .tickertape: false
        case .binance, .coinbase, .kraken, .binanceREST, .coinbaseREST, .krakenREST: true
        }
    }

    /// The venue whose REST service the frame is an exchange with; `nil` for a message of a connection.
    package var answering: Venue? {
        switch self {
        case .finnhub, .tickertape, .binance, .coinbase, .kraken: nil
        case .binanceREST: .binance
        case .coinbaseREST: .coinbase
        case .krakenREST: .kraken
        }
    }

    /// The name of the service for people.
    package var serviceName: String {
        switch self {
        case .finnhub: "Finnhub"
        case .tickertape: "Tickertape"
        case .binance, .binanceREST: Venue.binance.name
        case .coinbase, .coinbaseREST: Venue.coinbase.name
        case .kraken, .krakenREST: Venue.kraken.name
        }
    }

    /// Finds a dialect by its name; `nil` for a name that this program does not know.
    package init?(name: some StringProtocol) {
        guard let found = Self.allCases.first(where: { "\($0.name)" == name }) else { return nil }
        self = found
    }
}
