import Wire

/// The comparison of settings with those of the running program on this machine.
struct SettingsDifference {
    private let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    /// Asks the running program, and returns the differences in lines.
    func lines() async throws(OperatorError) -> [String] {
        guard let own = self.settings.ownRelay else {
            throw OperatorError("the running program cannot be asked: the relay is off", status: .failure)
        }
        let relay = try RunningRelay(own, self.settings, within: .seconds(5))
        do throws(ServiceFailure) {
            return self.lines(against: try await relay.settings().get())
        } catch {
            throw OperatorError("the relay at \(own): \(error)", status: .failure)
        }
    }

    /// Returns a line for each key whose value a restart or a reload would change, and one at the end.
    ///
    /// A flag or a variable of the running program wins over the config file here, too, so such a key is left out unless
    /// the value here has the same rank.
    func lines(against running: [RunningSetting]) -> [String] {
        var lines: [String] = []
        var needsRestart = false
        for value in running {
            guard let setting = Setting.named(value.key) else { continue }
            let origin = self.settings.origin(of: setting)
            let shown = setting.shown(self.settings)
            guard shown != value.value, origin.rank >= Self.rank(ofLayer: value.layer) else { continue }
            needsRestart = needsRestart || !setting.isReloadable
            lines.append(
                "\(setting.key): \(value.value) (\(value.origin)) runs; \(shown) (\(origin)) with a "
                    + (setting.isReloadable ? "reload" : "restart")
            )
        }
        if lines.isEmpty { return ["the running program has these settings"] }
        return lines + [needsRestart ? "some need a restart" : "a reload (SIGHUP) is enough"]
    }

    private static func rank(ofLayer layer: String) -> Int {
        switch layer {
        case Origin.flag("").layer: Origin.flag("").rank
        case Origin.environment("").layer: Origin.environment("").rank
        default: Origin.builtIn.rank
        }
    }
}

extension Origin {
    /// The rank of the layer: a flag wins over the environment, this over the file and the default.
    fileprivate var rank: Int {
        switch self {
        case .builtIn, .file: 0
        case .environment: 1
        case .flag: 2
        }
    }
}
