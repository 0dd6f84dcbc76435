import CoreMetrics
import Histogram
import NIOConcurrencyHelpers

/// The distribution of one latency: fixed memory (about 25 KiB), 1 % exact, from 1 µs to an hour.
///
/// Recorded once a batch, a frame or a flush, by one thread; read by any. The lock is not contended but by a reader.
package final class LatencyHistogram: Sendable {
    /// The figures a person reads. Nanoseconds; percentiles are rounded up by 1 % at most, `maximum` is exact.
    package struct Summary: Sendable, Equatable {
        package var count: UInt64
        package var median: Int64
        package var percentile99: Int64
        package var maximum: Int64

        package init(count: UInt64, median: Int64, percentile99: Int64, maximum: Int64) {
            self.count = count
            self.median = median
            self.percentile99 = percentile99
            self.maximum = maximum
        }
    }

    /// The figures for a monitoring system.
    struct Buckets: Sendable, Equatable {
        /// How many took at most as long as each bound.
        var cumulative: [UInt64]
        var count: UInt64
        /// All together, seconds.
        var sum: Double
        /// The longest, seconds.
        var maximum: Double
    }

    private struct State {
        /// In microseconds.
        var histogram = Histogram<UInt64>(
            highestTrackableValue: LatencyHistogram.longest / 1_000,
            numberOfSignificantValueDigits: .two
        )
        /// Nanoseconds.
        var sum: Double = 0
        var maximum: Int64 = 0
    }

    /// What takes longer counts as this long; nanoseconds.
    private static let longest: UInt64 = 3_600_000_000_000
    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Counts one; a negative span counts as none.
    package func record(nanoseconds: Int64) {
        let span = max(nanoseconds, 0)
        let counted = min(UInt64(span), Self.longest)
        self.state.withLockedValue { state in
            state.histogram.record(counted / 1_000)
            state.sum += Double(counted)
            state.maximum = max(state.maximum, span)
        }
    }

    /// Returns the figures so far, or `nil` when nothing was counted.
    package var summary: Summary? {
        self.state.withLockedValue { state in
            guard state.histogram.totalCount > 0 else { return nil }
            return Summary(
                count: state.histogram.totalCount,
                median: Self.nanoseconds(state, percentile: 50),
                percentile99: Self.nanoseconds(state, percentile: 99),
                maximum: state.maximum
            )
        }
    }

    /// Returns how many took at most so long, for each bound in microseconds, in ascending order.
    func buckets(upTo bounds: [UInt64]) -> Buckets {
        self.state.withLockedValue { state in
            var cumulative = [UInt64](repeating: 0, count: bounds.count)
            for step in state.histogram.recordedValues() {
                guard let bucket = bounds.firstIndex(where: { step.value <= $0 }) else { break }
                cumulative[bucket] += step.count
            }
            for bucket in bounds.indices.dropFirst() { cumulative[bucket] += cumulative[bucket - 1] }
            return Buckets(
                cumulative: cumulative,
                count: state.histogram.totalCount,
                sum: state.sum / 1e9,
                maximum: Double(state.maximum) / 1e9
            )
        }
    }

    private static func nanoseconds(_ state: State, percentile: Double) -> Int64 {
        min(Int64(state.histogram.valueAtPercentile(percentile)) * 1_000 + 999, state.maximum)
    }
}

extension LatencyHistogram: TimerHandler {
    package func recordNanoseconds(_ duration: Int64) { self.record(nanoseconds: duration) }
}
