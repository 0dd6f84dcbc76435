import Market
import NIOCore
import Wire

/// Bars on the relay's loop: counted from all trades, published to the clients that subscribed to them.
extension RelayHub {
    /// The shortest interval between two updates of a bar that is not over.
    static let barInterval: TimeAmount = .seconds(1)
    /// How many of the newest bars are compared with their published versions, since a gap may mark them.
    private static let barsCompared = 4

    func countBars(_ batch: TapeBatch) {
        guard !self.barTopics.isEmpty else {
            _ = self.bars.take(batch)
            return
        }
        // A batch may span more bars than are kept. It is taken in pieces that cannot push out an unpublished bar.
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

    /// Publishes the changed bars: every bar that is over, and at a tick the one that is not.
    ///
    /// - Parameter touched: the seconds in which trades came, ns since 1970. They may be long past.
    private func sendBars(_ topic: BarTopic, touched: [Int64], isTick: Bool) {
        guard var readers = self.barTopics[topic], let series = self.bars.series(of: topic.symbol, topic.width) else {
            return
        }
        let bars = series.bars
        let compared = max(0, bars.count - Self.barsCompared)
        // The bars not yet published as over, the compared bars, and the bars that late trades have changed.
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
            // A bar that is older than the first subscription and has not changed since is available at /v1/bars only.
            let isKnown = readers.reported[bar.start] != nil || bar.start > readers.overUpTo
            guard isKnown || index < late || self.isTouched(bar, touched) else { continue }
            if bar.start >= oldest { readers.reported[bar.start] = reported }
            var published = reported
            published.isRevised = isClosed && bar.start <= readers.overUpTo
            news.append(published)
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

    /// Publishes all changed bars, including those that are not over.
    func sendBarsAsTheyAre() {
        // Sorted, because the order of a dictionary differs from run to run.
        for topic in self.barTopics.keys.sorted() { self.sendBars(topic, touched: [], isTick: true) }
    }

    /// Marks the bars that a gap touches. Returns the starts of the newly marked bars of topics that have subscribers.
    func markBars(_ gap: Gap) -> [BarTopic: [Int64]] {
        self.changedBars(of: gap.symbol) { $0.gapFound(gap) }
    }

    /// Completes the bars that a settled gap touches. Returns what ``markBars(_:)`` returns.
    func completeBars(_ outcome: GapOutcome) -> [BarTopic: [Int64]] {
        self.changedBars(of: outcome.symbol) { $0.gapSettled(outcome) }
    }

    /// Returns the starts of the bars that a change makes incomplete or complete, of topics that have subscribers.
    ///
    /// - Parameter symbol: the only symbol that changes; `nil` for all.
    private func changedBars(of symbol: String?, _ change: (inout BarBook) -> Void) -> [BarTopic: [Int64]] {
        var before: [BarTopic: [Int64: Bool]] = [:]
        for topic in self.barTopics.keys where symbol == nil || symbol == topic.symbol {
            guard let series = self.bars.series(of: topic.symbol, topic.width) else { continue }
            before[topic] = series.bars.reduce(into: [:]) { $0[$1.start] = $1.isIncomplete }
        }
        change(&self.bars)
        var changed: [BarTopic: [Int64]] = [:]
        for (topic, marks) in before {
            guard let series = self.bars.series(of: topic.symbol, topic.width) else { continue }
            let starts = series.bars.filter { $0.isIncomplete != marks[$0.start] ?? $0.isIncomplete }.map(\.start)
            if !starts.isEmpty { changed[topic] = starts }
        }
        return changed
    }

    /// Publishes again the bars that were over when a gap changed their mark. This cannot wait, since the next trades may push
    /// them out of the compared range.
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

    /// Subscribes a client to the bars of a topic.
    ///
    /// - Returns: the newest bar; `nil` before the first one.
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
}
