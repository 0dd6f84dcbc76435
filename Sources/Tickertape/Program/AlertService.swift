import Alerts
import Glibc
import Market
import Measurements
import NIOCore
import NIOPosix
import ServiceLifecycle
import TLS
import Wire

/// The alerts of a program: their list, the reader that evaluates them, and their outputs.
struct AlertService: Sendable {
    /// The interface that sets and removes alerts while the program runs.
    let board: AlertBoard
    let reader: AlertReader
    private let programs: [AlertPrograms]
    private let webhook: AlertWebhook?
    private let persistence: AlertPersistence

    /// The reason why an alert that is set by key is lost at the end, in one line; `nil` if it is stored. May be called
    /// on any thread.
    var loss: @Sendable () -> String? {
        let persistence = self.persistence
        return { persistence.loss }
    }

    /// The time limits of running programs and webhook requests: after a stop, and after a replay.
    private static let stopLimit = Duration.milliseconds(500)
    private static let finishLimit = Duration.seconds(20)

    /// - Parameters:
    ///   - keeps: whether alerts that are set by key survive a restart, if the source and the settings allow it.
    /// - Throws: ``OperatorError`` when the webhook's settings cannot be used.
    init(
        _ settings: Settings,
        loop: any EventLoop,
        source: FeedStatus.Source,
        symbols: [String],
        registry: MetricRegistry,
        display shown: DisplayService?,
        keeps: Bool = true,
        warnings: Warnings
    ) throws {
        let warn: @Sendable (String) -> Void = warnings.warn(of: .alerts)
        let isReplay: Bool
        switch source {
        case .live, .demo: isReplay = false
        case .replay, .simulated: isReplay = true
        }
        let alerts = settings.alerts
        var watch = alerts.watch
        watch.staleAfter = settings.finnhub.watch.freshness.staleAfter
        watch.isReplay = isReplay

        self.persistence = AlertPersistence(
            settings.state,
            source: source,
            keeps: keeps,
            hasRules: !alerts.rules.isEmpty,
            warn: warn
        )
        let memory = self.persistence.memory
        let kept = memory.rules.compactMap { text -> AlertRule? in try? AlertRule(text) }
        self.board = AlertBoard(rules: alerts.rules, kept: kept)

        let shows = Set(alerts.actions)
        var actions = AlertReader.Actions()
        var programs: [AlertPrograms] = []
        let environment = AlertPrograms.harmless(ProcessEnvironment.entries().map { String(cString: $0) })
        if let shown {
            let display = shown.display
            actions.fired.append { display.fired($0, actions: shows) }
            let flashes = shows.contains(.flash)
            actions.listChanged = { list in
                display.alertsChanged(list.map { $0.flashing(flashes) })
            }
        } else {
            // A reader of standard error that has gone does not end the program.
            signal(SIGPIPE, SIG_IGN)
            actions.fired.append { Console.printNotice("alert: \(AlertText.line($0))\n") }
        }
        if !alerts.exec.isEmpty {
            let meter = JobMetrics("exec", registry: registry, warn: warn)
            let exec = try AlertPrograms(limits: alerts.execLimits, environment: environment, meter: meter)
            let arguments = alerts.exec
            actions.fired.append { exec.run(arguments, for: $0) }
            programs.append(exec)
        }
        if shows.contains(.notifySend) {
            let meter = JobMetrics("notify-send", registry: registry, warn: warn)
            let notifier = try AlertPrograms(environment: environment, meter: meter)
            actions.fired.append { notifier.notify($0) }
            programs.append(notifier)
        }
        self.webhook = try Self.webhook(settings, registry: registry, warn: warn)
        if let webhook = self.webhook { actions.fired.append { webhook.notify($0) } }
        self.programs = programs
        if let file = self.persistence.file { actions.keep = { file.keep($0) } }
        self.reader = AlertReader(
            board: self.board,
            loop: loop,
            settings: watch,
            symbols: symbols,
            remembered: memory.states,
            offset: LocalTime.offset,
            actions: actions,
            registry: registry,
            wallClock: WallClock.now
        )
        Self.notify(of: alerts.rules, not: symbols, warn: warn)
    }

    /// Warns of rules for symbols that are not subscribed to, since these are usually mistyped.
    private static func notify(of rules: [AlertRule], not symbols: [String], warn: (String) -> Void) {
        guard !symbols.isEmpty else { return }
        for rule in rules {
            guard case .symbol(let name) = rule.subject, !symbols.contains(where: rule.isAbout) else { continue }
            warn("the alert \"\(rule)\" waits until \(name) is subscribed to; it is not among the symbols here")
        }
    }

    /// Takes other rules, and other settings of rules, while alerts are evaluated.
    ///
    /// - Parameter symbols: the symbols that are followed.
    func reload(_ alerts: Settings.Alerts, before: [AlertRule], symbols: [String], warn: (String) -> Void) {
        self.board.replace(rulesOfSettings: alerts.rules)
        self.reader.change(
            hysteresis: alerts.watch.hysteresis,
            cooldown: alerts.watch.cooldown,
            quiet: alerts.watch.quiet
        )
        Self.notify(of: alerts.rules.filter { !before.contains($0) }, not: symbols, warn: warn)
    }

    private static func webhook(
        _ settings: Settings,
        registry: MetricRegistry,
        warn: @escaping @Sendable (String) -> Void
    ) throws(OperatorError) -> AlertWebhook? {
        guard let address = try settings.webhookAddress() else { return nil }
        if !address.isEncrypted, !address.isLoopback {
            Console.printError(
                "warning: the webhook is http:// and not encrypted; others on the way can read and use it"
            )
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
                meter: JobMetrics("webhook", registry: registry, warn: warn)
            )
        } catch {
            throw OperatorError("\(error) (alerts.webhook-ca-file)", status: .configuration)
        }
    }

    /// Waits for running programs and webhook requests after a replay.
    func finish() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.settle(atMost: Self.finishLimit) }
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
    }

    private func settle(atMost limit: Duration) async {
        for program in self.programs { await program.finish(atMost: limit) }
        await self.webhook?.finish(atMost: limit)
    }

    /// The service that stops running programs and webhook requests at the end, and writes the state.
    var part: NamedService {
        NamedService("alerts") {
            try? await gracefulShutdown()
            await self.reader.finish()
            await withTaskGroup(of: Void.self) { group in
                for program in self.programs { group.addTask { await program.stop(atMost: Self.stopLimit) } }
                if let webhook = self.webhook { group.addTask { await webhook.stop(atMost: Self.stopLimit) } }
                if let file = self.persistence.file { group.addTask { await file.settle(atMost: Self.stopLimit) } }
            }
        }
    }
}
