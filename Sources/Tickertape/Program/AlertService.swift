import Alerts
import Glibc
import Market
import Measurements
import NIOCore
import ServiceLifecycle
import Wire

/// The alerts of a program: their list, the reader that evaluates them, and their outputs.
struct AlertService: Sendable {
    /// The interface that sets and removes alerts while the program runs.
    let board: AlertBoard
    let reader: AlertReader
    let outputs: AlertOutputs
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

        let outputs = AlertOutputs(registry: registry, warn: warn, warnOnce: warnings.warnOnce)
        _ = outputs.use(try outputs.prepare(settings))
        self.outputs = outputs
        var actions = AlertReader.Actions()
        if let shown {
            let display = shown.display
            actions.fired.append { display.fired($0, actions: outputs.shows) }
            actions.listChanged = { list in
                let flashes = outputs.shows.contains(.flash)
                display.alertsChanged(list.map { $0.flashing(flashes) })
            }
        } else {
            // A reader of standard error that has gone does not end the program.
            signal(SIGPIPE, SIG_IGN)
            actions.fired.append { Console.printNotice("alert: \(AlertText.line($0))\n") }
        }
        actions.fired.append { outputs.fire($0) }
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

    /// Waits for running programs and webhook requests after a replay.
    func finish() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.outputs.finish(atMost: Self.finishLimit) }
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
    }

    /// The service that stops running programs and webhook requests at the end, and writes the state.
    var part: NamedService {
        NamedService("alerts") {
            try? await gracefulShutdown()
            await self.reader.finish()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.outputs.stop(atMost: Self.stopLimit) }
                if let file = self.persistence.file { group.addTask { await file.settle(atMost: Self.stopLimit) } }
            }
        }
    }
}
