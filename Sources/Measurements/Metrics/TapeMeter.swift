import CoreMetrics
package import Logging
package import Market
package import NIOCore
import Platform
package import Wire

/// The tape reader that counts and logs. It runs on the feed's loop and costs a few atomic operations a read, and none
/// a trade.
package final class TapeMeter: TapeReader {
    /// The state that belongs to the feed's loop.
    private struct State {
        var log: StateLog
        /// Set while the log has a pending line.
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
    private let malformedElements: Counter
    private let unnumbered: Counter
    private let repeatedFrames: Counter
    private let repeats: Counter
    private let possibleRepeats: Counter
    private let lostTrades: Counter

    /// - Parameters:
    ///   - loop: the feed's loop.
    ///   - warn: called on that loop, at most once an hour, when the clocks cannot both be right.
    package init(
        _ instruments: Instruments,
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
        self.malformedElements = Counter(label: MetricName.malformedElements, factory: registry)
        self.unnumbered = Counter(label: MetricName.unnumbered, factory: registry)
        self.repeatedFrames = Counter(label: MetricName.repeatedFrames, factory: registry)
        self.repeats = Counter(label: MetricName.repeats, factory: registry)
        self.possibleRepeats = Counter(label: MetricName.possibleRepeats, factory: registry)
        self.lostTrades = Counter(label: MetricName.lostTrades, factory: registry)
        // Each cause has a series from the start, so that its first interruption appears as an increase and not as a
        // new series.
        for cause in FeedStatus.Cause.allCases {
            self.reconnects(cause).increment(by: 0)
            self.gaps(cause).increment(by: 0)
            self.gapSeconds(cause).increment(by: 0)
        }
    }

    package func read(_ batch: TapeBatch) {
        self.frames.increment(by: batch.frames.count)
        var bytes = 0
        for index in batch.frames.indices { bytes += batch.frames[index].bytes.readableBytes }
        self.bytes.increment(by: bytes)
        if batch.losses != TapeBatch.Losses() { self.count(batch.losses) }
        guard !batch.trades.isEmpty else { return }
        self.trades.increment(by: batch.trades.count)
        // The delay of these says nothing about the feed's.
        let excluded: TradeMarks = [.ahead, .filled]
        guard let newest = batch.trades.last(where: { $0.marks.isDisjoint(with: excluded) }) else { return }
        let warning = self.instruments.latency.arrived(
            exchangeTime: newest.exchangeTime,
            received: batch.received,
            clockOffset: batch.clockOffset,
            now: batch.receivedMonotonic
        )
        guard let warning else { return }
        self.state.withValue { $0.log.warn(warning.description) }
        self.warn(warning.description)
    }

    package func statusChanged(_ status: FeedStatus) {
        if let cause = self.instruments.changeHistory({ $0.statusChanged(status) }) {
            self.reconnects(cause).increment()
        }
        let now = SystemClock.monotonic()
        self.instruments.changeTime { $0.statusChanged(status, now: now) }
        self.state.withValue { $0.log.statusChanged(status, now: now) }
        self.scheduleLog()
    }

    /// Schedules the log's pending lines.
    private func scheduleLog() {
        let now = SystemClock.monotonic()
        guard self.state.value.timer == nil, let deadline = self.state.value.log.deadline else { return }
        let timer = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(max(0, deadline - now) + 1_000_000)) {
            [weak self] in
            guard let self else { return }
            self.state.withValue {
                $0.timer = nil
                $0.log.timePassed(now: SystemClock.monotonic())
            }
            self.scheduleLog()
        }
        self.state.withValue { $0.timer = timer }
    }

    package func symbolChanged(_ status: SymbolStatus) {
        self.state.withValue { $0.log.symbolChanged(status, now: SystemClock.monotonic()) }
        self.scheduleLog()
    }

    package func gapFound(_ gap: Gap) {
        let before = self.instruments.history.gapNanoseconds
        let after = self.instruments.changeHistory { history in
            history.gapFound(gap)
            return history.gapNanoseconds
        }
        let cause = gap.cause ?? .other
        self.gaps(cause).increment()
        self.gapSeconds(cause).increment(by: Double(after - before) / 1e9)
    }

    package func gapSettled(_ outcome: GapOutcome) {
        let before = self.instruments.changeHistory { $0.gapSettled(outcome) }
        self.lostTrades.increment(by: max(0, outcome.lostCount - (before?.lostCount ?? 0)))
    }

    private func gaps(_ cause: FeedStatus.Cause) -> Counter {
        Counter(label: MetricName.gaps, dimensions: [("reason", cause.word)], factory: self.instruments.registry)
    }

    private func gapSeconds(_ cause: FeedStatus.Cause) -> FloatingPointCounter {
        FloatingPointCounter(
            label: MetricName.gapSeconds,
            dimensions: [("reason", cause.word)],
            factory: self.instruments.registry
        )
    }

    private func reconnects(_ cause: FeedStatus.Cause) -> Counter {
        Counter(
            label: MetricName.reconnects,
            dimensions: [("reason", cause.word)],
            factory: self.instruments.registry
        )
    }

    private func count(_ losses: TapeBatch.Losses) {
        self.malformed.increment(by: losses.malformedFrames)
        self.malformedElements.increment(by: losses.malformedElements)
        self.unnumbered.increment(by: losses.unnumberedTrades)
        self.repeatedFrames.increment(by: losses.repeatedFrames)
        self.repeats.increment(by: losses.repeatedTrades)
        self.possibleRepeats.increment(by: losses.possibleRepeats)
        self.instruments.changeHistory { $0.repeated(losses) }
    }
}

extension GapOutcome {
    /// The number of lost trades. A file may claim any number.
    fileprivate var lostCount: Int64 {
        self.lost.reduce(0) { sum, ids in
            let count = Int64(clamping: ids.upperBound - ids.lowerBound).addingReportingOverflow(1)
            let total = sum.addingReportingOverflow(count.partialValue)
            return count.overflow || total.overflow ? .max : total.partialValue
        }
    }
}
