/// A request for earlier trades of one symbol to a venue's REST service.
package struct VenueTradesRequest: Sendable, Equatable {
    package enum Trades: Sendable, Equatable {
        /// At most ``maximumCount`` trades with consecutive ids, beginning with `first`.
        ///
        /// Binance's `historicalTrades` and Coinbase's `trades`, which find them by their ids.
        case ids(first: UInt64, count: Int)
        /// The newest trades, at most ``maximumCount``: Binance's `trades`, which its host for market data has, too.
        case newest(count: Int)
        /// The trades after a time, ns since 1970, the oldest first: Kraken's `Trades`, which finds them by time only.
        case since(Int64)
    }

    /// The most trades of one answer.
    package static let maximumCount = 1_000

    package var venue: Venue
    /// The tape's name, such as `BINANCE:BTCUSDT`.
    package var symbol: String
    package var trades: Trades

    package init(_ venue: Venue, symbol: String, _ trades: Trades) {
        self.venue = venue
        self.symbol = symbol
        self.trades = trades
    }
}
