import CoreMetrics
import NIOConcurrencyHelpers

/// The number of a relay's refusals by type. The types are constants of this program, so their number is small.
package final class RefusalCounts: Sendable {
    private struct Count {
        var number: UInt64
        var counter: Counter
    }

    private let registry: MetricRegistry
    private let counts = NIOLockedValueBox<[String: Count]>([:])

    init(_ registry: MetricRegistry) { self.registry = registry }

    /// Counts one refusal.
    package func add(_ type: String) {
        self.counts.withLockedValue { counts in
            if counts[type] == nil {
                let counter = Counter(label: MetricName.refusals, dimensions: [("type", type)], factory: self.registry)
                counts[type] = Count(number: 0, counter: counter)
            }
            counts[type]?.number += 1
            counts[type]?.counter.increment()
        }
    }

    /// All types that have occurred, sorted by name.
    package var all: [(type: String, number: UInt64)] {
        self.counts.withLockedValue { counts in
            counts.map { ($0.key, $0.value.number) }.sorted { $0.0 < $1.0 }
        }
    }
}
