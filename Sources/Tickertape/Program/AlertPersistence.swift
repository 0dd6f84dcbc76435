import Market

/// The storage of alerts that are set by key, or the reason why they are lost at the end.
struct AlertPersistence: Sendable {
    let file: AlertFile?
    /// The state that an earlier run left.
    let memory: AlertState
    /// The reason why nothing is stored; `nil` if there is a file.
    private let obstacle: String?

    /// - Parameters:
    ///   - keeps: whether this program stores alerts. A `watch` does not, nor does a program that ends with its first
    ///     prices.
    ///   - hasRules: whether the settings have rules. Without rules, a missing state folder needs no warning.
    ///   - warn: receives one line for each problem, on any thread.
    init(
        _ state: Settings.State,
        source: FeedStatus.Source,
        keeps: Bool,
        hasRules: Bool,
        environment: ProcessEnvironment = .current,
        warn: @escaping @Sendable (String) -> Void
    ) {
        let folder = state.directory.path(orAuto: environment.stateFolder)
        var obstacle: String?
        // A replay and the demo neither read nor write alerts, so that the same recording always fires the same ones.
        switch source {
        case .live where !keeps: obstacle = "it ends with this watch; alerts.rules keep one"
        case .live: if folder == nil { obstacle = "it ends with this program, which keeps no state (state.directory)" }
        case .replay: obstacle = "it ends with this replay"
        case .simulated: obstacle = "it ends with this simulation"
        case .demo: obstacle = "it ends with this demo"
        }
        guard obstacle == nil, let folder else {
            self.init(obstacle: obstacle)
            return
        }
        guard let file = AlertFile(directory: folder, warn: { if hasRules { warn($0) } }) else {
            self.init(obstacle: "it ends with this program, for nothing can be kept in \(folder) (state.directory)")
            return
        }
        let kept = file.load() ?? AlertState()
        guard file.isOurs else {
            if !kept.rules.isEmpty {
                let alerts = kept.rules.count == 1 ? "the alert that was" : "the \(kept.rules.count) alerts that were"
                warn(
                    "\(alerts) set by key \(kept.rules.count == 1 ? "is" : "are") another tickertape's, which runs already"
                )
            } else if hasRules {
                warn("alerts are not kept over a restart: another tickertape keeps its own")
            }
            self.init(file: file)
            return
        }
        self.init(file: file, memory: kept)
    }

    private init(file: AlertFile? = nil, memory: AlertState = AlertState(), obstacle: String? = nil) {
        self.file = file
        self.memory = memory
        self.obstacle = obstacle
    }

    /// The reason why an alert that is set now is lost at the end, in one line; `nil` if it is stored. May be called on
    /// any thread.
    var loss: String? {
        if let obstacle { return obstacle }
        return self.file?.isOurs == true ? nil : "kept only if the other tickertape ends first; alerts.rules keep it"
    }
}
