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
        var sessionStart: Int64?
        var isInterrupted = false
        var isMoved = false
        var gaps = TradeGaps()
        /// Before this moment prices are known by the minute only, and none is told; ns.
        var exactFrom = Int64.min
    }

    /// One element: an array copies its storage only when it is changed and shared.
    fileprivate var body = [Body()]

    package init() {}

    /// When the first price came, and the newest.
    package var start: Int64? { self.body[0].start }
    package var newest: Int64? { self.body[0].newest }
    /// When the session's first price came, bars of before left aside; `nil` where that is not known.
    package var sessionStart: Int64? { self.body[0].sessionStart }

    /// Takes in a price.
    ///
    /// A clock that is set back by more than the reorder window of ``Board`` (a replay that goes back or begins again)
    /// takes along what lies behind it.
    ///
    /// - Parameters:
    ///   - time: ns of the history's clock.
    ///   - arrived: monotonic ns; for ``longestGap``.
    ///   - isWhole: whether the session's first price is among those that are taken in, which it is not where somebody else
    ///     tells of a session that began before.
    package mutating func take(_ price: ExactDecimal, at time: Int64, arrived: Int64, isWhole: Bool = true) {
        let time = min(max(time, -(1 << 61)), 1 << 61)
        self.body[0].take(price, at: time, arrived: arrived)
        if isWhole, self.body[0].sessionStart == nil { self.body[0].sessionStart = time }
    }

    /// A history that begins with bars of an earlier run, behind which prices may be missing.
    ///
    /// Bars by the second are as good as the prices themselves. Those by the minute, from before the first of them, are drawn
    /// only: no price is told of their time, for within a minute it may have been any between low and high.
    ///
    /// - Parameters:
    ///   - seconds: bars of one second, the oldest first.
    ///   - minutes: bars of one minute, the oldest first; of them those count that end before the first of `seconds`. The
    ///     others say where something is missing: a gap between two trades of a quiet symbol touches no bar by the second.
    ///   - end: minutes that begin from then on are left out, and one that ends later is not drawn; ns.
    package init(seconds: [Bar], minutes: [Bar], end: Int64 = .max) {
        let first = min(seconds.first?.start ?? .max, end)
        let bars = minutes.filter { $0.end <= first } + seconds
        var doubtful = minutes.filter { $0.isIncomplete && $0.start < end }[...]
        for (index, bar) in bars.enumerated() {
            guard index > 0 else {
                self.body[0].take(bar, isHole: false)
                continue
            }
            let before = bars[index - 1]
            while let minute = doubtful.first, minute.end <= before.end { doubtful.removeFirst() }
            let isDoubtful = doubtful.first.map { $0.start < bar.start } ?? false
            let isApart = before.end < bar.start
            self.body[0].take(bar, isHole: isApart && (before.isIncomplete || bar.isIncomplete || isDoubtful))
        }
        guard let last = bars.last else { return }
        self.body[0].exactFrom = seconds.isEmpty ? last.end : first
        self.interrupted()
    }

    /// Takes in the bar of the second in which a later history begins: its extremes, some of them perhaps of before.
    ///
    /// - Parameter isSeamless: whether no price can be missing in front of it.
    package mutating func take(last bar: Bar, isSeamless: Bool) {
        if isSeamless { self.body[0].isInterrupted = false }
        var point = PricePoint(start: bar.start, price: bar.close)
        point.low = bar.low.approximation
        point.high = bar.high.approximation
        self.body[0].take(point)
    }

    /// The history with a later one behind it.
    ///
    /// - Parameter isSeamless: whether no price can be missing between the two.
    package func followed(by later: PriceHistory, isSeamless: Bool = false) -> PriceHistory {
        let body = later.body[0]
        guard later.start != nil else { return self }
        var whole = self
        if isSeamless { whole.body[0].isInterrupted = false }
        // Up to six minutes in full; what is older is known in wider stretches.
        let fine = body.seconds.first?.start ?? .max
        for index in 0..<body.session.count where body.session[index].start + body.session.width <= fine {
            whole.body[0].take(body.session[index])
        }
        for index in 0..<body.seconds.count { whole.body[0].take(body.seconds[index]) }
        whole.body[0].isInterrupted = body.isInterrupted
        whole.body[0].gaps = body.gaps
        whole.body[0].sessionStart = body.sessionStart
        return whole
    }

    /// Notes that prices may be missing before the next one.
    ///
    /// - Parameter isMoved: whether the clock goes on elsewhere, by however little that is further back.
    package mutating func interrupted(isMoved: Bool = false) {
        self.body[0].isInterrupted = true
        if isMoved { self.body[0].isMoved = true }
        self.body[0].gaps.interrupted()
    }

    /// The longest recent time between two trades (``UsualSilence``), ns; `nil` before there are enough of them to say.
    package var longestGap: Int64? { self.body[0].gaps.longest }

    /// Notes that the market stands still from here to the next price, as a replay does that is paused: no time between two
    /// trades.
    package mutating func stoodStill() { self.body[0].gaps.interrupted() }

    /// Prices from about `span` before the newest to the newest, as finely as they are known; `nil` is all of the session.
    package func series(span: Int64?) -> PriceSeries {
        guard let span else { return self.body[0].session }
        if span <= 330_000_000_000 { return self.body[0].seconds }
        return span <= 4_200_000_000_000 ? self.body[0].tens : self.body[0].session
    }

    /// The price that was the newest at `time`; `nil` where that is not known: before the first one and in a gap.
    package func price(at time: Int64) -> ExactDecimal? {
        let body = self.body[0]
        guard let start = self.start, start <= time, time >= body.exactFrom else { return nil }
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
        let window = self.isMoved ? 0 : Board.reorderWindow
        self.isMoved = false
        if let newest = self.newest, newest - time > window {
            self.seconds.cut(from: time)
            self.tens.cut(from: time)
            self.session.cut(from: time)
            if self.session.last == nil { self.start = nil }
            if let first = self.sessionStart, first > time { self.sessionStart = nil }
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

extension PriceHistory.Body {
    /// Takes in a point of another history, which lies behind all that is here.
    fileprivate mutating func take(_ point: PricePoint) {
        guard point.start >= self.newest ?? .min else { return }
        let isGap = self.isInterrupted || point.followsGap
        self.isInterrupted = false
        self.start = self.start ?? point.start
        self.newest = point.start
        self.seconds.take(point, followsGap: isGap)
        self.tens.take(point, followsGap: isGap)
        self.session.take(point, followsGap: isGap)
    }

    /// Takes in a bar: its first and last price at their times, and with the last the extremes, whose times nobody knows.
    fileprivate mutating func take(_ bar: Bar, isHole: Bool) {
        self.isInterrupted = isHole
        let (from, to) = (
            min(max(bar.openTime, bar.start), bar.end - 1), min(max(bar.closeTime, bar.start), bar.end - 1)
        )
        let prices = [(bar.open, from), (bar.low, to), (bar.high, to), (bar.close, to)]
        for (price, time) in prices { self.take(price, at: time, arrived: time) }
        // The times between bars say nothing of how often is traded.
        self.gaps = TradeGaps()
    }
}

/// The times between the trades of a symbol.
struct TradeGaps: Sendable {
    /// Fewer than these say nothing.
    static let least = 8

    private var usual = UsualSilence()
    private var count = 0
    /// When the newest trade of all arrived, and the same of what the next one is compared with; monotonic ns.
    private var last: Int64 = 0
    private var newest: Int64?

    mutating func traded(at time: Int64) {
        if let newest = self.newest {
            self.usual.ended(max(0, time - newest), now: time)
            self.count = min(self.count + 1, Self.least)
        }
        self.newest = max(self.newest ?? time, time)
        self.last = max(self.last, time)
    }

    /// What lies in a gap was no silence of the market.
    mutating func interrupted() { self.newest = nil }

    /// ns; `nil` before there are enough of them to say.
    var longest: Int64? { self.count < Self.least ? nil : self.usual.longest(now: self.last) }
}
