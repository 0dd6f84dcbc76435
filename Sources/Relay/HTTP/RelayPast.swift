package import Market
package import Measurements
import NIOCore
package import Wire

/// The stored bars and trades of earlier runs and of this one, queried by HTTP requests off the relay's loop.
package struct RelayPast: Sendable {
    /// The bars of a symbol that begin in a span of time (ns since 1970), the oldest first. If the span has a
    /// beginning, these are the first bars in it, up to the limit; otherwise the last ones.
    package var bars: @Sendable (String, BarWidth, _ from: Int64?, _ to: Int64?, _ limit: Int) async throws -> [Bar]
    /// The recorded trades of a symbol.
    package var trades: @Sendable (String, PastTradesQuery) async throws -> PastTrades

    /// When the feed was live in a span of time (ns since 1970), over restarts: by default the last day, until now.
    package var liveTime: @Sendable (_ from: Int64?, _ to: Int64?) async throws -> LiveTime

    package init(
        bars: @escaping @Sendable (String, BarWidth, Int64?, Int64?, Int) async throws -> [Bar],
        trades: @escaping @Sendable (String, PastTradesQuery) async throws -> PastTrades,
        liveTime: @escaping @Sendable (Int64?, Int64?) async throws -> LiveTime
    ) {
        self.bars = bars
        self.trades = trades
        self.liveTime = liveTime
    }
}
