package import Market
package import NIOCore

/// The content of a frame, as found by the reader of its dialect.
package enum FrameContent: Sendable, Equatable {
    /// Trades; `skipped` elements were malformed or could not be held.
    case trades(skipped: Int)
    /// A well-formed message without trades.
    case other
    /// Bytes that are not a message of the dialect.
    case malformed
}

/// A reader of the trades in frames, and the only place that chooses a dialect's parser.
package struct FrameReader: Sendable {
    private var finnhub = FinnhubParser()
    private var binance = BinanceParser()
    private var coinbase = CoinbaseParser()
    private var kraken = KrakenParser()

    package init() {}

    /// Appends a frame's trades in the frame's order, and returns its content. New symbols get their numbers from
    /// `symbols`.
    package mutating func read(
        _ frame: ByteBuffer,
        of dialect: FrameDialect,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FrameContent {
        switch dialect {
        case .finnhub:
            self.finnhub.parse(frame, symbols: &symbols, into: &trades).content
        case .binance: self.binance.parse(frame, symbols: &symbols, into: &trades).content
        case .coinbase: self.coinbase.parse(frame, symbols: &symbols, into: &trades).content
        case .kraken: self.kraken.parse(frame, symbols: &symbols, into: &trades).content
        case .binanceREST: VenueExchange.read(frame, of: .binance, symbols: &symbols, into: &trades)
        case .coinbaseREST: VenueExchange.read(frame, of: .coinbase, symbols: &symbols, into: &trades)
        case .krakenREST: VenueExchange.read(frame, of: .kraken, symbols: &symbols, into: &trades)
        case .tickertape: StreamMessage.parse(frame).appendTrade(to: &trades, symbols: &symbols)
        }
    }
}
