import CoreMetrics
package import Measurements
import NIOConcurrencyHelpers
import Platform

/// What became of the programs and webhooks that alerts set off: counted all, told of at most once a minute each.
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
    ///   - warn: is told in one line what does not work; must return at once.
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

    /// - Parameter reason: why it failed or was dropped; never holds a secret.
    func ended(_ outcome: Outcome, reason: String = "", now: Int64 = SystemClock.monotonic()) {
        // Last: who waits for the count finds what was told.
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
