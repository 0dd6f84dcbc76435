import CoreMetrics
package import Logging
package import Market
package import NIOCore
package import Wire

/// The reader that measures the tape and logs the feed's states. It works on the feed's loop: a few atomics a read, and
/// nothing a trade.
package final class TapeMeter: TapeReader {
    /// What belongs to the feed's loop.
    private struct State {
        var log: StateLog
        /// Set while the log has something to say later.
        var timer: Scheduled<Void>?
    }

    private let instruments: Instruments
    private let warn: @Sendable (String) -> Void
    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    private let trades: Counter
    private let frames: Counter
    private let bytes: Counter
    private let malformed: Counter
    private let repeats: Counter
    private let gaps: Counter
    private let gapSeconds: FloatingPointCounter
    private let since: Gauge
    private let states: [Gauge]

    /// - Parameters:
    ///   - loop: the feed's loop.
    ///   - warn: is told on that loop, at most once an hour, that the clocks cannot both be right.
    package init(
        _ instruments: Instruments,
        status: FeedStatus,
        loop: any EventLoop,
        logger: Logger,
        warn: @escaping @Sendable (String) -> Void
    ) {
        let registry = instruments.registry
        self.instruments = instruments
        self.warn = warn
        self.loop = loop
        self.state = .makeBoxSendingValue(State(log: StateLog(logger: logger)), eventLoop: loop)
        self.trades = Counter(label: MetricName.trades, factory: registry)
        self.frames = Counter(label: MetricName.frames, factory: registry)
        self.bytes = Counter(label: MetricName.bytes, factory: registry)
        self.malformed = Counter(label: MetricName.malformed, factory: registry)
        self.repeats = Counter(label: MetricName.repeats, factory: registry)
        self.gaps = Counter(label: MetricName.gaps, factory: registry)
        self.gapSeconds = FloatingPointCounter(label: MetricName.gapSeconds, factory: registry)
        self.since = Gauge(label: MetricName.since, factory: registry)
        self.states = FeedStatus.Phase.words.map {
            Gauge(label: MetricName.state, dimensions: [("state", $0)], factory: registry)
        }
        // Each kind is there from the start, so that the first interruption is an increase and no new series.
        for kind in InterruptionClass.allCases { self.reconnects(kind).increment(by: 0) }
        self.show(status)
    }

    package func read(_ batch: TapeBatch) {
        self.frames.increment(by: batch.frames.count)
        var bytes = 0
        var malformed = 0
        for frame in batch.frames {
            bytes += frame.bytes.readableBytes
            if frame.isMalformed { malformed += 1 }
        }
        self.bytes.increment(by: bytes)
        if malformed > 0 { self.malformed.increment(by: malformed) }
        guard let newest = batch.trades.last else { return }
        self.trades.increment(by: batch.trades.count)
        let warning = self.instruments.latency.arrived(
            exchangeTime: newest.exchangeTime,
            received: batch.received,
            now: batch.receivedMonotonic
        )
        guard let warning else { return }
        self.state.withValue { $0.log.warn(warning.description) }
        self.warn(warning.description)
    }

    package func statusChanged(_ status: FeedStatus) {
        if let kind = self.instruments.changeHistory({ $0.statusChanged(status) }) {
            self.reconnects(kind).increment()
        }
        self.state.withValue { $0.log.statusChanged(status, now: DisplayClock.monotonic()) }
        self.scheduleLog()
        self.show(status)
    }

    /// Has the log say later what it has no room for now.
    private func scheduleLog() {
        let now = DisplayClock.monotonic()
        guard self.state.value.timer == nil, let deadline = self.state.value.log.deadline else { return }
        let timer = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(max(0, deadline - now) + 1_000_000)) {
            [weak self] in
            guard let self else { return }
            self.state.withValue {
                $0.timer = nil
                $0.log.timePassed(now: DisplayClock.monotonic())
            }
            self.scheduleLog()
        }
        self.state.withValue { $0.timer = timer }
    }

    package func symbolChanged(_ status: SymbolStatus) {
        self.state.withValue { $0.log.symbolChanged(status, now: DisplayClock.monotonic()) }
    }

    package func gapFound(_ gap: Gap) {
        let before = self.instruments.history.gapNanoseconds
        let after = self.instruments.changeHistory { history in
            history.gapFound(gap)
            return history.gapNanoseconds
        }
        self.gaps.increment()
        self.gapSeconds.increment(by: Double(after - before) / 1e9)
        if let overlap = gap.overlap { self.repeats.increment(by: overlap) }
    }

    private func reconnects(_ kind: InterruptionClass) -> Counter {
        Counter(
            label: MetricName.reconnects,
            dimensions: [("reason", kind.rawValue)],
            factory: self.instruments.registry
        )
    }

    private func show(_ status: FeedStatus) {
        for (word, gauge) in zip(FeedStatus.Phase.words, self.states) { gauge.record(word == status.word ? 1 : 0) }
        self.since.record(Double(status.since) / 1e9)
    }
}
