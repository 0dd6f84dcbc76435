/// The prices of one symbol over a session, for a screen: by the second for six minutes, by ten seconds for more than an
/// hour, and all of the session in at most 512 stretches, which grow with it.
///
/// Some 60 kB at most, whatever the market does and however long it lasts. A copy costs nothing, and the first change after
/// it a few hundred bytes and now and then a chunk. Times are ns of one clock: the arrival's for a market, the recording's
/// for a replay.
package struct PriceHistory: Sendable {
    fileprivate struct Body: Sendable {
        var seconds = PriceSeries(width: 1_000_000_000, capacity: 384, limit: .forgetsOldest)
        var tens = PriceSeries(width: 10_000_000_000, capacity: 448, limit: .forgetsOldest)
        var session = PriceSeries(width: 1_000_000_000, capacity: 512, limit: .widens)
        var newest: Int64?
        var start: Int64?
        var isInterrupted = false
        var gaps = TradeGaps()
    }

    /// One element: an array copies its storage only when it is changed and shared.
    fileprivate var body = [Body()]

    package init() {}

    /// When the first price came, and the newest.
    package var start: Int64? { self.body[0].start }
    package var newest: Int64? { self.body[0].newest }

    /// Takes in a price.
    ///
    /// A clock that is set back by more than the reorder window of ``Board`` (a replay that goes back or begins again)
    /// takes along what lies behind it.
    ///
    /// - Parameters:
    ///   - time: ns of the history's clock.
    ///   - arrived: monotonic ns; for ``medianGap``.
    package mutating func take(_ price: ExactDecimal, at time: Int64, arrived: Int64) {
        self.body[0].take(price, at: min(max(time, -(1 << 61)), 1 << 61), arrived: arrived)
    }

    /// Takes that prices may be missing before the next one.
    package mutating func interrupted() {
        self.body[0].isInterrupted = true
        self.body[0].gaps.interrupted()
    }

    /// The median of the times between the newest trades, ns; `nil` before there are enough of them to say.
    package var medianGap: Int64? { self.body[0].gaps.median }

    /// Prices from about `span` before the newest to the newest, as finely as they are known; `nil` is all of the session.
    package func series(span: Int64?) -> PriceSeries {
        guard let span else { return self.body[0].session }
        if span <= 330_000_000_000 { return self.body[0].seconds }
        return span <= 4_200_000_000_000 ? self.body[0].tens : self.body[0].session
    }

    /// The price that was the newest at `time`; `nil` where that is not known: before the first one and in a gap.
    package func price(at time: Int64) -> ExactDecimal? {
        guard let start = self.start, start <= time else { return nil }
        let body = self.body[0]
        for series in [body.seconds, body.tens, body.session] {
            // The first stretch that is not over by then.
            let next = series.index(from: time - series.width + 1)
            guard next > 0 else { continue }
            if next < series.count, series[next].followsGap { return nil }
            return series[next - 1].close
        }
        return nil
    }
}

extension PriceHistory.Body {
    fileprivate mutating func take(_ price: ExactDecimal, at time: Int64, arrived: Int64) {
        if let newest = self.newest, newest - time > Board.reorderWindow {
            self.seconds.cut(from: time)
            self.tens.cut(from: time)
            self.session.cut(from: time)
            if self.session.last == nil { self.start = nil }
            self.newest = nil
        }
        let isGap = self.isInterrupted
        self.isInterrupted = false
        if self.start == nil { self.start = time }
        self.gaps.traded(at: arrived)
        // A late one was never the newest price.
        if let newest = self.newest, time < newest, !isGap { return }
        self.newest = max(self.newest ?? time, time)
        self.seconds.take(price, at: time, followsGap: isGap)
        self.tens.take(price, at: time, followsGap: isGap)
        self.session.take(price, at: time, followsGap: isGap)
    }
}

/// The times between the newest trades of a symbol.
struct TradeGaps: Sendable {
    static let most = 31
    /// Fewer than these say nothing.
    static let least = 8

    private var gaps = InlineArray<31, Int64>(repeating: 0)
    private var count = 0
    private var newest: Int64?

    mutating func traded(at time: Int64) {
        if let newest = self.newest {
            self.gaps[self.count % Self.most] = max(0, time - newest)
            // Never so large that it could overflow, and the place in the ring is kept.
            self.count = self.count + 1 == 4 * Self.most ? 3 * Self.most : self.count + 1
        }
        self.newest = max(self.newest ?? time, time)
    }

    /// What lies in a gap was no silence of the market.
    mutating func interrupted() { self.newest = nil }

    var median: Int64? {
        let known = min(self.count, Self.most)
        guard known >= Self.least else { return nil }
        let sorted = (0..<known).map { self.gaps[$0] }.sorted()
        return sorted[known / 2]
    }
}
