import Market
import NIOCore
import Wire

/// Bars of one symbol and one width, as clients ask for them.
struct BarTopic: Hashable, Comparable {
    var symbol: String
    var width: BarWidth

    static func < (left: BarTopic, right: BarTopic) -> Bool {
        (left.symbol, left.width.rawValue) < (right.symbol, right.width.rawValue)
    }
}

/// The clients that are told the bars of one topic, and what they have been told.
struct BarReaders {
    var members: [ObjectIdentifier: any RelayProtocol] = [:]
    /// The newest bars that were told, by their starts.
    var reported: [Int64: PublishedBar] = [:]
    /// The start of the newest bar that was over and told, or was over before anybody asked.
    var overUpTo = Int64.min
}

/// Bars on the relay's loop: counted from all trades, told to who asked for them.
extension RelayHub {
    /// How often a bar that is not over is told at most.
    static let barInterval: TimeAmount = .seconds(1)
    /// So many of the newest bars are compared with what was told of them: a gap may mark them.
    private static let barsCompared = 4

    func countBars(_ batch: TapeBatch) {
        guard !self.barTopics.isEmpty else {
            _ = self.bars.take(batch)
            return
        }
        // A read may span more bars than are kept; no more trades at a time than leave each bar there to be told.
        var next = 0
        repeat {
            let end = min(batch.trades.count, next + self.bars.tradesPerLook)
            for advance in self.bars.take(batch, next..<end) {
                for width in BarWidth.allCases {
                    let topic = BarTopic(symbol: advance.symbol, width: width)
                    self.sendBars(topic, touched: advance.seconds, isTick: false)
                }
            }
            next = end
        } while next < batch.trades.count
    }

    /// Tells what is new: every bar that is over, and at a tick the one that is not.
    ///
    /// - Parameter touched: seconds in which trades came, which may be long past; ns since 1970.
    private func sendBars(_ topic: BarTopic, touched: [Int64], isTick: Bool) {
        guard var readers = self.barTopics[topic], let series = self.bars.series(of: topic.symbol, topic.width) else {
            return
        }
        let bars = series.bars
        let compared = max(0, bars.count - Self.barsCompared)
        // Those that were never told as over, those that are compared, and those that late trades have changed.
        var first = min(compared, bars.count)
        while first > 0, bars[first - 1].start > readers.overUpTo { first -= 1 }
        var looked: [Bar] = []
        var oldest = bars.indices.contains(first) ? bars[first].start : .max
        for second in touched where second < oldest {
            guard let place = series.place(of: second), place < first else { continue }
            if !looked.contains(where: { $0.start == bars[place].start }) { looked.append(bars[place]) }
        }
        looked.sort { $0.start < $1.start }
        let late = looked.count
        looked += bars[first...]
        oldest = bars.indices.contains(compared) ? bars[compared].start : .max
        var news: [PublishedBar] = []
        for (index, bar) in looked.enumerated() {
            let isClosed = self.bars.isClosed(bar, now: self.monotonic)
            let reported = PublishedBar(symbol: topic.symbol, width: topic.width, bar: bar, isClosed: isClosed)
            guard isClosed || isTick, readers.reported[bar.start] != reported else { continue }
            // What was there before anybody asked, and has not changed since, is for whoever reads /v1/bars.
            let isKnown = readers.reported[bar.start] != nil || bar.start > readers.overUpTo
            guard isKnown || index < late || self.isTouched(bar, touched) else { continue }
            if bar.start >= oldest { readers.reported[bar.start] = reported }
            news.append(reported)
        }
        if let over = looked.last(where: { self.bars.isClosed($0, now: self.monotonic) }) {
            readers.overUpTo = max(readers.overUpTo, over.start)
        }
        readers.reported = readers.reported.filter { $0.key >= oldest }
        self.barTopics[topic] = readers
        for reported in news {
            let message = self.message()
            for session in readers.members.values { session.barChanged(reported, message) }
        }
    }

    /// Tells all that is new, the bars that are not over among it.
    func sendBarsAsTheyAre() {
        // In an order of their own, for a dictionary has another one in every run.
        for topic in self.barTopics.keys.sorted() { self.sendBars(topic, touched: [], isTick: true) }
    }

    /// Marks the bars that a gap touches; returns the starts of those that were not marked before, of the topics that
    /// somebody is told.
    func markBars(_ gap: Gap) -> [BarTopic: [Int64]] {
        var whole: [BarTopic: [Int64]] = [:]
        for topic in self.barTopics.keys where gap.symbol == nil || gap.symbol == topic.symbol {
            guard let series = self.bars.series(of: topic.symbol, topic.width) else { continue }
            whole[topic] = series.bars.filter { !$0.isIncomplete }.map(\.start)
        }
        self.bars.gapFound(gap)
        var marked: [BarTopic: [Int64]] = [:]
        for (topic, starts) in whole {
            guard let series = self.bars.series(of: topic.symbol, topic.width) else { continue }
            let found = starts.filter { start in series.place(of: start).map { series.bars[$0].isIncomplete } ?? false }
            if !found.isEmpty { marked[topic] = found }
        }
        return marked
    }

    /// Tells again the bars that were over when a gap marked them. Now, for by the next trades they may be far behind.
    func sendBars(marked: [BarTopic: [Int64]]) {
        for (topic, starts) in marked.sorted(by: { $0.key < $1.key }) {
            self.sendBars(topic, touched: starts, isTick: false)
        }
    }

    private func isTouched(_ bar: Bar, _ seconds: [Int64]) -> Bool {
        seconds.contains { $0 >= bar.start && $0 < bar.end }
    }

    private func armBarTimer() {
        guard self.barTimer == nil, !self.isStopped, !self.barTopics.isEmpty else { return }
        self.barTimer = self.loop.assumeIsolated().scheduleTask(in: Self.barInterval) {
            self.barTimer = nil
            self.sendBarsAsTheyAre()
            self.flush()
            self.armBarTimer()
        }
    }

    /// Tells a client the bars of a topic from now on, beginning with the newest there is.
    ///
    /// - Returns: that bar.
    func join(_ session: any RelayProtocol, _ topic: BarTopic) -> PublishedBar? {
        var newest: PublishedBar?
        if let series = self.bars.series(of: topic.symbol, topic.width), let bar = series.bars.last {
            let isClosed = self.bars.isClosed(bar, now: self.monotonic)
            let reported = PublishedBar(symbol: topic.symbol, width: topic.width, bar: bar, isClosed: isClosed)
            newest = reported
            if self.barTopics[topic] == nil {
                var readers = BarReaders(reported: [bar.start: reported])
                let over = isClosed ? bar : series.bars.dropLast().last
                readers.overUpTo = over?.start ?? .min
                self.barTopics[topic] = readers
            }
        }
        self.barTopics[topic, default: BarReaders()].members[ObjectIdentifier(session)] = session
        self.armBarTimer()
        return newest
    }

    func leave(_ session: any RelayProtocol, _ topic: BarTopic) {
        self.barTopics[topic]?.members[ObjectIdentifier(session)] = nil
        if self.barTopics[topic]?.members.isEmpty == true { self.barTopics[topic] = nil }
        guard self.barTopics.isEmpty else { return }
        self.barTimer?.cancel()
        self.barTimer = nil
    }

    /// The bars of a symbol that are in memory; `nil` where it has none here.
    package func bars(of symbol: String, _ query: BarQuery) -> BarExcerpt? {
        guard let series = self.bars.series(of: symbol, query.width), let oldest = series.bars.first?.start else {
            return nil
        }
        let bars = series.bars(from: query.from, to: query.to, limit: query.limit)
        return BarExcerpt(
            bars: bars.map { ($0, self.bars.isClosed($0, now: self.monotonic)) },
            oldest: oldest
        )
    }
}
