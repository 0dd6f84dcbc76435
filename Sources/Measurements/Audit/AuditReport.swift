/// The comparison of Finnhub's trades with those of their venues, by symbol.
package struct AuditReport: Sendable, Equatable {
    /// In the order in which they first traded.
    package var symbols: [AuditedSymbol] = []
    /// Whether the arrivals of both sides were on one clock.
    package var measuresDelays = true

    /// Why the venues' trades do not come, in one line; `nil` while they do.
    package var trouble: String?

    package init(symbols: [AuditedSymbol] = [], measuresDelays: Bool = true) {
        self.symbols = symbols
        self.measuresDelays = measuresDelays
    }

    /// Whether something was compared, and no trade is missing.
    package var isComplete: Bool {
        self.symbols.contains { $0.trades > 0 } && self.symbols.allSatisfy { $0.missing == 0 && $0.missingInGaps == 0 }
    }
}

/// The comparison of Finnhub's trades of one symbol with its venue's.
package struct AuditedSymbol: Sendable, Equatable {
    package var symbol: String
    /// The times between which both streams were there, by the exchange's clock, ms since 1970; `nil` if they had no
    /// common time yet.
    package var span: ClosedRange<Int64>?
    /// The venue's trades that Finnhub sent.
    package var delivered = 0
    /// The venue's trades that Finnhub did not send, although its stream was live.
    package var missing = 0
    /// The newest ids of these, in the order in which they were found, and the number of those that are not listed. Of
    /// several equal trades it cannot be known which one is missing.
    package var missingIDs: [ClosedRange<UInt64>] = []
    package var unlistedIDs: UInt64 = 0
    /// The venue's trades that Finnhub did not send in its own gaps, and the number of these gaps.
    package var missingInGaps = 0
    package var gaps = 0
    /// Finnhub's trades that came once more than the venue has them.
    package var repeated = 0
    /// Finnhub's trades that the venue has not.
    package var unknown = 0
    /// The delivered trades that came later than ``AuditLimits/wait``.
    package var late = 0
    /// The delivered trades that came after a trade with a later id.
    package var reordered = 0
    /// The trades without a partner that prove nothing: one of the streams was not there.
    package var unproven = 0
    /// The trades that still wait for their partners.
    package var waiting = 0
    /// Finnhub's arrivals after the venue's; `nil` without a measurement. One before the venue's counts as 0.
    package var delay: LatencyHistogram.Summary?

    package init(symbol: String) { self.symbol = symbol }

    /// The venue's trades that Finnhub's could be compared with, without those in Finnhub's gaps.
    package var trades: Int { self.delivered + self.missing }

    /// The delivered part of ``trades`` in thousandths of a percent, cut: 100,000 only if none is missing; `nil`
    /// without a trade.
    package var share: Int? {
        guard self.trades > 0 else { return nil }
        let (product, isOut) = self.delivered.multipliedReportingOverflow(by: 100_000)
        return isOut ? self.delivered / (self.trades / 100_000) : product / self.trades
    }

    /// The share as text, such as `99.942 %`; `nil` without a trade.
    package var shareText: String? {
        self.share.map { $0 == 100_000 ? "100 %" : "\(Self.percent($0)) %" }
    }

    /// Formats thousandths of a percent as percent: `99.942`.
    static func percent(_ share: Int) -> String { "\(share / 1_000).\("\(1_000 + share % 1_000)".dropFirst())" }
}
