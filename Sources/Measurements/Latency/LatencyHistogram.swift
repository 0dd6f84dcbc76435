import CoreMetrics
import Histogram
import NIOConcurrencyHelpers

/// The distribution of one latency, from 1 µs to an hour with an error of 1 %, in a fixed amount of memory (about 25
/// KiB).
///
/// One thread records, once a batch, a frame or a flush; any thread reads. Only a reader contends for the lock.
package final class LatencyHistogram: Sendable {
    /// The figures for a person, in ns. Percentiles are rounded up by 1 % at most, and `maximum` is exact.
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
        /// The number of latencies up to each bound.
        var cumulative: [UInt64]
        var count: UInt64
        /// The sum of all latencies, seconds.
        var sum: Double
        /// The longest latency, seconds.
        var maximum: Double
    }

    private struct State {
        /// The distribution in microseconds.
        var histogram = Histogram<UInt64>(
            highestTrackableValue: LatencyHistogram.longest / 1_000,
            numberOfSignificantValueDigits: .two
        )
        /// The sum and the maximum in nanoseconds.
        var sum: Double = 0
        var maximum: Int64 = 0
    }

    /// The longest latency that is distinguished, ns; a longer one is counted as this.
    private static let longest: UInt64 = 3_600_000_000_000
    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Counts one latency; a negative one counts as zero.
    package func record(nanoseconds: Int64) {
        let span = max(nanoseconds, 0)
        let counted = min(UInt64(span), Self.longest)
        self.state.withLockedValue { state in
            state.histogram.record(counted / 1_000)
            state.sum += Double(counted)
            state.maximum = max(state.maximum, span)
        }
    }

    /// The figures so far; `nil` if nothing was counted.
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

    /// Returns the number of latencies up to each bound; the bounds are in microseconds, ascending.
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
