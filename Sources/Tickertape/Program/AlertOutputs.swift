import Alerts
import Market
import Measurements
import NIOConcurrencyHelpers
import NIOPosix
import Platform
import TLS

/// What alerts set off beside their list: marks on the display, programs, desktop notifications and a webhook.
///
/// A reload replaces them. What the ones before have begun goes on within its limits. May be used on any thread.
final class AlertOutputs: Sendable {
    /// The outputs of some settings.
    struct Parts: Sendable {
        fileprivate var shows: Set<AlertAction> = []
        fileprivate var exec: [String] = []
        fileprivate var execLimits = AlertPrograms.Limits()
        fileprivate var address: WebhookAddress?
        fileprivate var trust = TLSClientConfiguration.Trust.system
        fileprivate var programs: AlertPrograms?
        fileprivate var notifier: AlertPrograms?
        fileprivate var webhook: AlertWebhook?
    }

    private struct State {
        var parts = Parts()
        var meters: [String: JobMetrics] = [:]
        /// Those that a reload has replaced, until they have ended.
        var former: [any AlertOutput] = []
    }

    /// How long what a reload has replaced may go on; each program and request has its own limit.
    private static let formerLimit = Duration.seconds(3_600)

    private let registry: MetricRegistry
    private let warn: @Sendable (String) -> Void
    private let warnOnce: @Sendable (String) -> Void
    private let environment: [String]
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - warn: takes a warning of one line; must return at once.
    ///   - warnOnce: the same for a warning that each reload repeats.
    init(
        registry: MetricRegistry,
        warn: @escaping @Sendable (String) -> Void,
        warnOnce: @escaping @Sendable (String) -> Void
    ) {
        self.registry = registry
        self.warn = warn
        self.warnOnce = warnOnce
        self.environment = AlertPrograms.harmless(ProcessEnvironment.entries().map { String(cString: $0) })
    }

    /// How alerts are shown on a display.
    var shows: Set<AlertAction> { self.state.withLockedValue { $0.parts.shows } }

    /// Starts what an alert sets off.
    func fire(_ alert: Alert) {
        let parts = self.state.withLockedValue { $0.parts }
        parts.programs?.run(parts.exec, for: alert)
        parts.notifier?.notify(alert)
        parts.webhook?.notify(alert)
    }

    // MARK: Settings

    /// Makes the outputs of settings, and keeps those in use that stay the same.
    ///
    /// - Throws: ``OperatorError`` when they cannot be used.
    func prepare(_ settings: Settings) throws(OperatorError) -> Parts {
        let alerts = settings.alerts
        let present = self.state.withLockedValue { $0.parts }
        var parts = Parts()
        parts.shows = Set(alerts.actions)
        parts.exec = alerts.exec
        parts.execLimits = alerts.execLimits
        parts.trust = alerts.webhookTrust
        if !alerts.exec.isEmpty {
            let isSame = present.programs != nil && alerts.execLimits == present.execLimits
            parts.programs = isSame ? present.programs : try self.programs("exec", parts.execLimits)
        }
        if parts.shows.contains(.notifySend) {
            let isSame = present.notifier != nil
            parts.notifier = isSame ? present.notifier : try self.programs("notify-send", AlertPrograms.Limits())
        }
        parts.address = try settings.webhookAddress(warn: self.warnOnce)
        if let address = parts.address {
            let isSame = present.webhook != nil && address == present.address && parts.trust == present.trust
            parts.webhook = isSame ? present.webhook : try self.webhook(address, settings)
        }
        return parts
    }

    /// Uses outputs from the next alert on; returns whether the webhook is another one.
    func use(_ parts: Parts) -> Bool {
        let (before, former) = self.state.withLockedValue { state -> (Parts, [any AlertOutput]) in
            let before = state.parts
            state.parts = parts
            let all: [(any AlertOutput)?] = [before.programs, before.notifier, before.webhook]
            let present: [(any AlertOutput)?] = [parts.programs, parts.notifier, parts.webhook]
            let former = zip(all, present).compactMap { old, new in old === new ? nil : old }
            state.former += former
            return (before, former)
        }
        for output in former {
            Task {
                // An alert that fires at this moment may still use it.
                try? await Task.sleep(for: .seconds(1))
                await output.finish(atMost: Self.formerLimit)
                await output.stop(atMost: .zero)
                self.state.withLockedValue { state in state.former.removeAll { $0 === output } }
            }
        }
        return before.address != parts.address || before.trust != parts.trust
    }

    private func meter(_ action: String) -> JobMetrics {
        self.state.withLockedValue { state in
            if let meter = state.meters[action] { return meter }
            let meter = JobMetrics(action, registry: self.registry, warn: self.warn)
            state.meters[action] = meter
            return meter
        }
    }

    private func programs(_ action: String, _ limits: AlertPrograms.Limits) throws(OperatorError) -> AlertPrograms {
        do throws(SystemCallFailure) {
            return try AlertPrograms(limits: limits, environment: self.environment, meter: self.meter(action))
        } catch {
            throw OperatorError("no program can be started for alerts: \(error)", status: .failure)
        }
    }

    private func webhook(_ address: WebhookAddress, _ settings: Settings) throws(OperatorError) -> AlertWebhook {
        if !address.isEncrypted, !address.isLoopback {
            self.warnOnce("the webhook is http:// and not encrypted; others on the way can read and use it")
        }
        var tls = TLSClientConfiguration()
        tls.ciphers = settings.dial.tls.ciphers
        tls.trust = settings.alerts.webhookTrust
        do throws(TLSError) {
            return try AlertWebhook(
                address,
                tls: tls,
                loop: MultiThreadedEventLoopGroup.singleton.next(),
                agent: "tickertape/\(tickertapeVersion)",
                meter: self.meter("webhook")
            )
        } catch {
            throw OperatorError("\(error) (alerts.webhook-ca-file)", status: .configuration)
        }
    }

    // MARK: End

    private var all: [any AlertOutput] {
        self.state.withLockedValue { state in
            let present: [(any AlertOutput)?] = [state.parts.programs, state.parts.notifier, state.parts.webhook]
            return present.compactMap(\.self) + state.former
        }
    }

    /// Waits for programs and requests, at most for `limit` each.
    func finish(atMost limit: Duration) async {
        for output in self.all { await output.finish(atMost: limit) }
    }

    /// Accepts no more alerts, and gives programs and requests `limit`.
    func stop(atMost limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for output in self.all { group.addTask { await output.stop(atMost: limit) } }
        }
    }
}

/// What runs programs or requests of alerts.
private protocol AlertOutput: AnyObject, Sendable {
    func finish(atMost limit: Duration) async
    func stop(atMost limit: Duration) async
}

extension AlertPrograms: AlertOutput {}
extension AlertWebhook: AlertOutput {}
