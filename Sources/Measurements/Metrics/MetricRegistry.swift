package import CoreMetrics
import NIOConcurrencyHelpers
import Synchronization

/// The metrics of one program: a factory for swift-metrics whose handlers are atomics, and the text for Prometheus.
///
/// Each program has its own instead of the process-wide `MetricsSystem`, because tests run several side by side. A
/// family has at most ``maximumSeries`` series. Handlers requested beyond that are not exported, so no label can exhaust
/// the memory.
package final class MetricRegistry: MetricsFactory {
    /// The largest number of series of one family.
    package static let maximumSeries = 128
    /// The upper bounds of the timers' buckets, in microseconds.
    static let bounds: [UInt64] = [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        10_000_000, 60_000_000,
    ]

    private enum Handler {
        case counter(CounterCell)
        case sum(GaugeCell)
        case gauge(GaugeCell)
        case histogram(LatencyHistogram)
    }

    private struct Family {
        var kind: PrometheusText.Kind
        var series: [(labels: [(String, String)], handler: Handler)] = []
    }

    private struct State {
        var families: [String: Family] = [:]
        var help: [String: String] = [:]
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Sets the description of a metric for its `HELP` line.
    package func describe(_ name: String, _ help: String) { self.state.withLockedValue { $0.help[name] = help } }

    // MARK: swift-metrics

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let cell = CounterCell()
        return self.handler(label, .counter, dimensions, .counter(cell)) {
            if case .counter(let cell) = $0 { cell } else { nil }
        } ?? cell
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        let cell = GaugeCell()
        return self.handler(label, .counter, dimensions, .sum(cell)) {
            if case .sum(let cell) = $0 { cell } else { nil }
        } ?? cell
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        let cell = GaugeCell()
        return self.handler(label, .gauge, dimensions, .gauge(cell)) {
            if case .gauge(let cell) = $0 { cell } else { nil }
        } ?? cell
    }

    /// Makes a gauge in either case: an aggregating recorder would need a unit, and the API has none.
    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        let cell = GaugeCell()
        return self.handler(label, .gauge, dimensions, .gauge(cell)) {
            if case .gauge(let cell) = $0 { cell } else { nil }
        } ?? cell
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let histogram = LatencyHistogram()
        return self.handler(label, .histogram, dimensions, .histogram(histogram)) {
            if case .histogram(let histogram) = $0 { histogram } else { nil }
        } ?? histogram
    }

    package func destroyCounter(_ handler: any CounterHandler) { self.remove(handler) }
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { self.remove(handler) }
    package func destroyMeter(_ handler: any MeterHandler) { self.remove(handler) }
    package func destroyRecorder(_ handler: any RecorderHandler) { self.remove(handler) }
    package func destroyTimer(_ handler: any TimerHandler) { self.remove(handler) }

    /// Adds a histogram that another owner keeps.
    func add(_ histogram: LatencyHistogram, label: String, dimensions: [(String, String)]) {
        _ = self.handler(label, .histogram, dimensions, .histogram(histogram)) { $0 }
    }

    /// Returns the existing series with these labels, or a new one; `nil` if the family is full or of another kind.
    private func handler<Cell>(
        _ label: String,
        _ kind: PrometheusText.Kind,
        _ labels: [(String, String)],
        _ new: Handler,
        cell: (Handler) -> Cell?
    ) -> Cell? {
        let name = PrometheusText.name(label)
        return self.state.withLockedValue { state in
            var family = state.families[name] ?? Family(kind: kind)
            guard family.kind == kind else { return nil }
            if let known = family.series.first(where: { $0.labels.elementsEqual(labels, by: ==) }) {
                return cell(known.handler)
            }
            guard family.series.count < Self.maximumSeries else { return nil }
            family.series.append((labels, new))
            state.families[name] = family
            return cell(new)
        }
    }

    private func remove(_ handler: AnyObject) {
        self.state.withLockedValue { state in
            for name in state.families.keys {
                state.families[name]?.series.removeAll { series in
                    switch series.handler {
                    case .counter(let cell): cell === handler
                    case .sum(let cell), .gauge(let cell): cell === handler
                    case .histogram(let histogram): histogram === handler
                    }
                }
            }
        }
    }

    // MARK: Exposition

    /// Writes all families, sorted by name.
    package func write(to text: inout PrometheusText) {
        let (families, help) = self.state.withLockedValue { ($0.families, $0.help) }
        for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
            text.family(name, family.kind, help[name] ?? "Counted by the library that names it.")
            for series in family.series {
                switch series.handler {
                case .counter(let cell): text.sample(name, series.labels, Double(cell.value))
                case .sum(let cell), .gauge(let cell): text.sample(name, series.labels, cell.value)
                case .histogram(let histogram):
                    Self.write(histogram.buckets(upTo: Self.bounds), name, series.labels, to: &text)
                }
            }
        }
    }

    private static func write(
        _ buckets: LatencyHistogram.Buckets,
        _ name: String,
        _ labels: [(String, String)],
        to text: inout PrometheusText
    ) {
        for (bound, count) in zip(Self.bounds, buckets.cumulative) {
            text.sample("\(name)_bucket", labels + [("le", PrometheusText.text(Double(bound) / 1e6))], Double(count))
        }
        text.sample("\(name)_bucket", labels + [("le", "+Inf")], Double(buckets.count))
        text.sample("\(name)_sum", labels, buckets.sum)
        text.sample("\(name)_count", labels, Double(buckets.count))
    }
}

/// A monotonically increasing number.
final class CounterCell: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { self.count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { self.count.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { self.count.store(0, ordering: .relaxed) }
}

/// A number that increases and decreases, also by fractions.
final class GaugeCell: MeterHandler, RecorderHandler, FloatingPointCounterHandler {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }

    func set(_ value: Int64) { self.set(Double(value)) }

    func set(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }

    func increment(by amount: Double) {
        var old = self.bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (isDone, now) = self.bits.compareExchange(expected: old, desired: new, ordering: .relaxed)
            if isDone { return }
            old = now
        }
    }

    func decrement(by amount: Double) { self.increment(by: -amount) }

    func reset() { self.set(0.0) }

    func record(_ value: Int64) { self.set(value) }

    func record(_ value: Double) { self.set(value) }
}
