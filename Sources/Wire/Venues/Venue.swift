/// An exchange whose own public feed sends every trade with an id and needs no key.
package enum Venue: String, Sendable, CaseIterable {
    case binance, coinbase, kraken

    /// The name for people.
    package var name: String {
        switch self {
        case .binance: "Binance"
        case .coinbase: "Coinbase"
        case .kraken: "Kraken"
        }
    }

    /// The beginning of its symbols' names, as Finnhub writes them.
    package var prefix: StaticString {
        switch self {
        case .binance: "BINANCE:"
        case .coinbase: "COINBASE:"
        case .kraken: "KRAKEN:"
        }
    }

    /// The dialect of its WebSocket's frames.
    package var dialect: FrameDialect {
        switch self {
        case .binance: .binance
        case .coinbase: .coinbase
        case .kraken: .kraken
        }
    }

    /// The dialect of exchanges with its REST service.
    package var answerDialect: FrameDialect {
        switch self {
        case .binance: .binanceREST
        case .coinbase: .coinbaseREST
        case .kraken: .krakenREST
        }
    }

    /// Finds the venue of a symbol such as `BINANCE:BTCUSDT`; `nil` for one of another exchange.
    package init?(of symbol: some StringProtocol) {
        guard let found = Self.allCases.first(where: { symbol.hasPrefix("\($0.prefix)") }) else { return nil }
        self = found
    }
}
