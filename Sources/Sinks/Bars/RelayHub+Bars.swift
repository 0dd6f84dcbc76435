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
    var members: [ObjectIdentifier: StreamClient] = [:]
    /// The newest bars that were told, by their starts.
    var told: [Int64: ToldBar] = [:]
}

/// Bars on the relay's loop: counted from all trades, told to who asked for them.
extension RelayHub {
    /// How often a bar that is not over is told at most.
    static let barInterval: TimeAmount = .seconds(1)
    /// The bars of a topic that a late trade may still change in the eyes of its readers.
    private static let barsLookedAt = 4

    func countBars(_ batch: TapeBatch) {
        let advanced = self.bars.take(batch)
        guard !self.barTopics.isEmpty else { return }
        for symbol in advanced {
            for width in BarWidth.allCases { self.tellBars(BarTopic(symbol: symbol, width: width), isTick: false) }
        }
    }

    /// Tells what is new: every bar that is over, and at a tick the one that is not.
    private func tellBars(_ topic: BarTopic, isTick: Bool) {
        guard var readers = self.barTopics[topic], let series = self.bars.series(of: topic.symbol, topic.width) else {
            return
        }
        let looked = series.bars.suffix(Self.barsLookedAt)
        var news: [ToldBar] = []
        for bar in looked {
            let isClosed = self.bars.isClosed(bar, now: self.monotonic)
            let told = ToldBar(symbol: topic.symbol, width: topic.width, bar: bar, isClosed: isClosed)
            guard isClosed || isTick, readers.told[bar.start] != told else { continue }
            // What was there before anybody asked is for who reads /v1/bars.
            if readers.told[bar.start] == nil, let last = readers.told.keys.max(), bar.start < last { continue }
            readers.told[bar.start] = told
            news.append(told)
        }
        if let oldest = looked.first { readers.told = readers.told.filter { $0.key >= oldest.start } }
        self.barTopics[topic] = readers
        for told in news {
            let frame = self.frame(.bar(told))
            for client in Array(readers.members.values) { client.take(told, frame: frame) }
        }
    }

    private func armBarTimer() {
        guard self.barTimer == nil, !self.isStopped, !self.barTopics.isEmpty else { return }
        self.barTimer = self.loop.assumeIsolated().scheduleTask(in: Self.barInterval) {
            self.barTimer = nil
            // In an order of their own, for a dictionary has another one in every run.
            for topic in self.barTopics.keys.sorted() { self.tellBars(topic, isTick: true) }
            self.flush()
            self.armBarTimer()
        }
    }

    /// Tells a client the bars of a topic from now on, beginning with the newest there is.
    func join(_ client: StreamClient, _ topic: BarTopic) {
        if let bar = self.bars.series(of: topic.symbol, topic.width)?.bars.last {
            let isClosed = self.bars.isClosed(bar, now: self.monotonic)
            let told = ToldBar(symbol: topic.symbol, width: topic.width, bar: bar, isClosed: isClosed)
            client.tell(.bar(told))
            if self.barTopics[topic] == nil { self.barTopics[topic] = BarReaders(told: [bar.start: told]) }
        }
        self.barTopics[topic, default: BarReaders()].members[ObjectIdentifier(client)] = client
        self.armBarTimer()
    }

    func leave(_ client: StreamClient, _ topic: BarTopic) {
        self.barTopics[topic]?.members[ObjectIdentifier(client)] = nil
        if self.barTopics[topic]?.members.isEmpty == true { self.barTopics[topic] = nil }
        guard self.barTopics.isEmpty else { return }
        self.barTimer?.cancel()
        self.barTimer = nil
    }

    /// The bars of a symbol that are in memory; `nil` where it has none here.
    func bars(of symbol: String, _ query: BarQuery) -> BarExcerpt? {
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
