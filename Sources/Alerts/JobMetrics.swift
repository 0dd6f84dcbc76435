import CoreMetrics
package import Measurements
import NIOConcurrencyHelpers
import Platform

/// The outcomes of the programs and webhooks that alerts start. All are counted; failures are reported once a minute at
/// most.
package final class JobMetrics: Sendable {
    enum Outcome: String, CaseIterable {
        case done
        case failed
        case dropped
    }

    private static let pause: Int64 = 60_000_000_000
    private static let metric = "tickertape_alert_actions_total"

    private let action: String
    private let counters: [Outcome: Counter]
    private let warn: @Sendable (String) -> Void
    private let reported = NIOLockedValueBox<(last: Int64?, left: UInt64)>((nil, 0))

    /// - Parameters:
    ///   - action: `exec`, `notify-send` or `webhook`.
    ///   - warn: takes a warning of one line; must return at once.
    package init(_ action: String, registry: MetricRegistry, warn: @escaping @Sendable (String) -> Void) {
        self.action = action
        self.warn = warn
        registry.describe(Self.metric, "What alerts set off, by action and result: done, failed, dropped.")
        self.counters = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map { outcome in
                let counter = Counter(
                    label: Self.metric,
                    dimensions: [("action", action), ("result", outcome.rawValue)],
                    factory: registry
                )
                counter.increment(by: 0)
                return (outcome, counter)
            }
        )
    }

    /// Counts the end of a job, and reports a failure unless one was reported within the last minute.
    ///
    /// - Parameters:
    ///   - reason: why the job failed or was dropped; never holds a secret.
    ///   - now: monotonic ns.
    func ended(_ outcome: Outcome, reason: String = "", now: Int64 = SystemClock.monotonic()) {
        // The count changes last, so that its reader also finds the warning.
        defer { self.counters[outcome]?.increment() }
        guard outcome != .done else { return }
        let line = self.reported.withLockedValue { reported -> String? in
            if let last = reported.last, now - last < Self.pause {
                reported.left += 1
                return nil
            }
            defer { reported = (now, 0) }
            let more = reported.left == 0 ? "" : " (and \(reported.left) more before)"
            return "alert \(self.action): \(reason)\(more)"
        }
        if let line { self.warn(line) }
    }
}
