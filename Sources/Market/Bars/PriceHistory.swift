/// The prices and volumes of one symbol over a session, for a chart: by the second for six minutes, by ten seconds for
/// more than an hour, by five minutes for more than a day, by hours for sixteen days, and the whole session in at most
/// 512 points, which widen as it grows.
///
/// It takes about 120 kB at most, whatever the market does and however long the session lasts. A copy costs nothing. The
/// first change after a copy copies a few hundred bytes, and sometimes a chunk. Times are ns of one clock: the clock of
/// arrival for a live market, the recording's clock for a replay.
package struct PriceHistory: Sendable {
    struct Body: Sendable {
        var seconds = PriceSeries(width: 1_000_000_000, capacity: 384, limit: .forgetsOldest)
        var tens = PriceSeries(width: 10_000_000_000, capacity: 448, limit: .forgetsOldest)
        var fiveMinutes = PriceSeries(width: 300_000_000_000, capacity: 384, limit: .forgetsOldest)
        var hours = PriceSeries(width: 3_600_000_000_000, capacity: 384, limit: .widens)
        var session = PriceSeries(width: 1_000_000_000, capacity: 512, limit: .widens)
        var newest: Int64?
        var start: Int64?
        var sessionStart: Int64?
        var isInterrupted = false
        var isMoved = false
        var gaps = TradeGaps()
        /// The holes whose trades may still come, and the prices of those that have.
        var awaited: [AwaitedHole] = []
        var filledPoints: [PricePoint] = []
        /// Before this moment prices are known only by the minute, and `price(at:)` gives none; ns.
        var exactFrom = Int64.min
    }

    /// A single element: an array copies its storage only if it is shared when it changes.
    var body = [Body()]

    package init() {}

    /// The times of the first price and of the newest.
    package var start: Int64? { self.body[0].start }
    package var newest: Int64? { self.body[0].newest }
    /// The time of the session's first price, without bars of an earlier run; `nil` if it is not known.
    package var sessionStart: Int64? { self.body[0].sessionStart }

    /// Adds a price.
    ///
    /// A clock that was set back by more than the reorder window of ``Board`` (a replay that goes back or begins again)
    /// removes the prices after its new time.
    ///
    /// - Parameters:
    ///   - time: ns of the history's clock.
    ///   - volume: the size of the trade, or of all trades since the price before; 0 if it is unknown.
    ///   - arrived: monotonic ns; for ``longestGap``.
    ///   - isWhole: whether the session's first price is among the prices added. It is not if the prices come from
    ///     another program whose session began earlier.
    package mutating func take(
        _ price: ExactDecimal,
        at time: Int64,
        volume: Double = 0,
        arrived: Int64,
        isWhole: Bool = true
    ) {
        self.body[0].take(PricePoint(start: PriceHistory.bounded(time), price: price, volume: volume), arrived: arrived)
        if isWhole, self.body[0].sessionStart == nil { self.body[0].sessionStart = PriceHistory.bounded(time) }
    }

    /// Returns a time within the bounds of a history. No difference of two such times overflows, nor does a sum with a
    /// chart's span.
    static func bounded(_ time: Int64) -> Int64 { min(max(time, -(1 << 61)), 1 << 61) }

    /// Creates a history that begins with bars of an earlier run; prices may be missing after them.
    ///
    /// Bars by the second are as good as the prices themselves. Bars by the minute, from before the first of those, are
    /// only drawn: no price is given for their time, because within a minute it may have been any between low and high.
    ///
    /// - Parameters:
    ///   - seconds: bars of one second, oldest first.
    ///   - minutes: bars of one minute, oldest first. Those that end before the first of `seconds` are drawn. The
    ///     others say where trades are missing: a gap between two trades of a quiet symbol touches no bar by the
    ///     second.
    ///   - fiveMinutes: bars of five minutes, oldest first. Those that end before all others are in the charts of a day
    ///     or more only.
    ///   - end: minutes that begin at or after this time are ignored, and a minute that ends after it is not drawn; ns.
    package init(seconds: [Bar], minutes: [Bar], fiveMinutes: [Bar] = [], end: Int64 = .max) {
        let first = min(seconds.first?.start ?? .max, end)
        let oldest = min(minutes.first?.start ?? .max, first)
        self.body[0].takeOlder(fiveMinutes.filter { $0.end <= oldest })
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

    /// Adds the bar of the second in which a later history begins. Some of its extremes may be from before that
    /// history, which counts the volume.
    ///
    /// - Parameter isSeamless: whether no price can be missing before it.
    package mutating func take(last bar: Bar, isSeamless: Bool) {
        if isSeamless { self.body[0].isInterrupted = false }
        var point = PricePoint(start: Self.bounded(bar.start), price: bar.close)
        point.low = bar.low.approximation
        point.high = bar.high.approximation
        point.open = bar.open.approximation
        self.body[0].take(point)
    }

    /// Returns this history followed by a later one.
    ///
    /// - Parameter isSeamless: whether no price can be missing between the two.
    package func followed(by later: PriceHistory, isSeamless: Bool = false) -> PriceHistory {
        let body = later.body[0]
        guard later.start != nil else { return self }
        var whole = self
        if isSeamless { whole.body[0].isInterrupted = false }
        // The last six minutes in full, and older prices in wider points.
        let fine = body.seconds.first?.start ?? .max
        var points = (0..<body.session.count).map { body.session[$0] }
        points.removeAll { $0.start + body.session.width > fine }
        points += (0..<body.seconds.count).map { body.seconds[$0] }
        // No trade is missing before the first price.
        if isSeamless, !points.isEmpty { points[0].isIncomplete = false }
        for point in points { whole.body[0].take(point) }
        whole.body[0].isInterrupted = body.isInterrupted
        whole.body[0].awaited = body.awaited
        whole.body[0].filledPoints = body.filledPoints
        whole.body[0].gaps = body.gaps
        whole.body[0].sessionStart = body.sessionStart
        return whole
    }

    /// Notes that prices may be missing before the next one.
    ///
    /// - Parameters:
    ///   - isMoved: whether the clock jumps, even if it goes back by less than the reorder window.
    ///   - missing: the ids of the missing trades, all of which may still come
    ///     (``gapSettled(_:published:isComplete:)``); `nil` without ids.
    ///   - published: the times of the gap, by which its outcome names it without ids; `nil` if it has none.
    package mutating func interrupted(
        isMoved: Bool = false,
        missing: ClosedRange<UInt64>? = nil,
        published: ClosedRange<Int64>? = nil
    ) {
        if missing != nil || published != nil, let newest = self.newest {
            self.body[0].await(missing, published: published ?? 0...0, after: newest)
        } else {
            self.body[0].isInterrupted = true
        }
        if isMoved { self.body[0].isMoved = true }
        self.body[0].gaps.interrupted()
    }

    /// The longest recent time between two trades (``UsualSilence``), ns; `nil` after too few trades.
    package var longestGap: Int64? { self.body[0].gaps.longest }

    /// Notes that the market stands still until the next price, as in a paused replay. That time does not count as a
    /// time between two trades.
    package mutating func stoodStill() { self.body[0].gaps.interrupted() }

    /// Returns the prices of the last `span` ns in periods of a round length; `nil` means the whole session, in periods
    /// as short as they are known.
    package func series(span: Int64?) -> PriceSeries {
        guard let span else { return self.body[0].session }
        if span <= 330_000_000_000 { return self.body[0].seconds }
        if span <= 4_200_000_000_000 { return self.body[0].tens }
        return span <= 96_000_000_000_000 ? self.body[0].fiveMinutes : self.body[0].hours
    }

    /// Returns the newest price as of `time`; `nil` if it is not known: before the first price and in a gap.
    package func price(at time: Int64) -> ExactDecimal? {
        let body = self.body[0]
        guard let start = self.start, start <= time, time >= body.exactFrom else { return nil }
        for series in [body.seconds, body.tens, body.session] {
            // The first point that begins after `time` minus its width.
            let next = series.index(from: time - series.width + 1)
            guard next > 0 else { continue }
            if next < series.count, series[next].followsGap { return nil }
            return series[next - 1].close
        }
        return nil
    }
}

extension PriceHistory.Body {
    /// Changes all series alike.
    mutating func change(_ body: (inout PriceSeries) -> Void) {
        body(&self.seconds)
        body(&self.tens)
        body(&self.fiveMinutes)
        body(&self.hours)
        body(&self.session)
    }

    /// Adds the point of one price.
    fileprivate mutating func take(_ price: PricePoint, arrived: Int64) {
        let time = price.start
        let window = self.isMoved ? 0 : Board.reorderWindow
        self.isMoved = false
        if let newest = self.newest, newest - time > window {
            self.change { $0.cut(from: time) }
            if self.session.last == nil { self.start = nil }
            if let first = self.sessionStart, first > time { self.sessionStart = nil }
            self.newest = nil
            // The clock was set back: these holes are of a time that is no longer in the chart.
            (self.awaited, self.filledPoints) = ([], [])
        }
        var point = price
        point.awaitsTrades = self.holesEnd(at: time)
        point.lacksTrades = self.isInterrupted
        self.isInterrupted = false
        if self.start == nil {
            self.start = time
            point.isIncomplete = true
        }
        self.gaps.traded(at: arrived)
        // A late price was never the newest.
        if let newest = self.newest, time < newest, !point.followsGap { return self.change { $0.takeLate(point) } }
        self.newest = max(self.newest ?? time, time)
        self.change { $0.take(point) }
    }
}

extension PriceHistory.Body {
    /// Adds a point of another history that begins after everything in this one.
    fileprivate mutating func take(_ point: PricePoint) {
        guard point.start >= self.newest ?? .min else { return }
        var point = point
        point.lacksTrades = point.lacksTrades || self.isInterrupted
        self.isInterrupted = false
        self.start = self.start ?? point.start
        self.newest = point.start
        self.change { $0.take(point) }
    }

    /// Adds bars from before the beginning of the charts of less than a day.
    fileprivate mutating func takeOlder(_ bars: [Bar]) {
        var before: Bar?
        for bar in bars {
            var points = bar.points
            if let before, before.end < bar.start { points[0].lacksTrades = before.isIncomplete || bar.isIncomplete }
            for point in points {
                self.fiveMinutes.take(point)
                self.hours.take(point)
            }
            before = bar
        }
    }

    fileprivate mutating func take(_ bar: Bar, isHole: Bool) {
        self.isInterrupted = isHole
        for point in bar.points { self.take(point) }
        // The times between bars do not show how often the symbol trades.
        self.gaps = TradeGaps()
    }
}

extension Bar {
    /// The first and the last price at their times. The times of the extremes and of the volume are unknown, so they join
    /// the last.
    fileprivate var points: [PricePoint] {
        let times = [self.openTime, self.closeTime].map {
            PriceHistory.bounded(min(max($0, self.start), self.end - 1))
        }
        var first = PricePoint(start: times[0], price: self.open)
        var last = PricePoint(start: times[1], price: self.close, volume: self.volume.approximation)
        last.low = min(self.low.approximation, last.low)
        last.high = max(self.high.approximation, last.high)
        (first.isIncomplete, last.isIncomplete) = (self.isIncomplete, self.isIncomplete)
        return [first, last]
    }
}

/// The times between a symbol's trades.
struct TradeGaps: Sendable {
    /// The number of times below which no statement is made.
    static let least = 8

    private var usual = UsualSilence()
    private var count = 0
    /// The arrival of the newest trade of all, and of the trade that the next one is compared with; monotonic ns.
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

    /// Notes an interruption: the time across a gap is not a silence of the market.
    mutating func interrupted() { self.newest = nil }

    /// The longest time between two trades, ns; `nil` after too few trades.
    var longest: Int64? { self.count < Self.least ? nil : self.usual.longest(now: self.last) }
}
