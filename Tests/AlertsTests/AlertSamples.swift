import Market
import NIOConcurrencyHelpers
import NIOCore
import TickertapeTesting
@testable import Alerts
@testable import Measurements

/// The counts and the warnings of a ``JobMetrics``.
final class MeterLog: Sendable {
    let registry = MetricRegistry()
    let warnings = Calls()
    let action: String

    init(_ action: String) { self.action = action }

    var meter: JobMetrics { JobMetrics(self.action, registry: self.registry) { [warnings] in warnings.add($0) } }

    func count(_ result: String) -> Int {
        var text = PrometheusText()
        self.registry.write(to: &text)
        let name = "tickertape_alert_actions_total{action=\"\(self.action)\",result=\"\(result)\"}"
        let line = String(buffer: text.buffer).split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? -1
    }

    /// Waits until this number of jobs have ended.
    func ends(_ count: Int) async throws -> Bool {
        for _ in 0..<2_000 * Patience.factor {
            if ["done", "failed", "dropped"].reduce(0, { $0 + self.count($1) }) >= count { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
