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

    /// Gives types a series from the start, so that their first refusal appears as an increase.
    package func begin(_ types: [String]) {
        self.counts.withLockedValue { counts in
            for type in types { self.begin(type, in: &counts) }
        }
    }

    /// Counts one refusal.
    package func add(_ type: String) {
        self.counts.withLockedValue { counts in
            self.begin(type, in: &counts)
            counts[type]?.number += 1
            counts[type]?.counter.increment()
        }
    }

    private func begin(_ type: String, in counts: inout [String: Count]) {
        guard counts[type] == nil else { return }
        let counter = Counter(label: MetricName.refusals, dimensions: [("type", type)], factory: self.registry)
        counter.increment(by: 0)
        counts[type] = Count(number: 0, counter: counter)
    }

    /// All types that have occurred, sorted by name.
    package var all: [(type: String, number: UInt64)] {
        self.counts.withLockedValue { counts in
            counts.filter { $0.value.number > 0 }.map { ($0.key, $0.value.number) }.sorted { $0.0 < $1.0 }
        }
    }
}
