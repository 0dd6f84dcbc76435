import ArgumentParser

/// The command that prints the settings in force.
struct ConfigCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print every setting in force, and where its value comes from.",
        discussion: """
            Takes the flags of `run`, so that `tickertape config FLAGS` shows what `tickertape FLAGS` would use. The \
            key itself is never printed. Exit status 78 when a setting is wrong by itself, or a file of a key or \
            token cannot be read; other files that settings name, addresses to listen on and proxies are looked at by the \
            start only.
            """
    )

    @OptionGroup(title: "The service") var feed: FeedOptions
    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.feed, self.display, self.alerts, self.relay, self.record, self.common] }

    mutating func run() async throws {
        for line in Self.listing(try self.loadSettings()) { Console.print(line) }
    }

    /// Returns the lines: the path of the config file, then `key: value (origin)` for each setting.
    static func listing(_ loaded: LoadedSettings) -> [String] {
        let file = loaded.file.map { "# config file: \($0)" } ?? "# config file: none"
        return [file]
            + Setting.all.map { setting in
                let origin = loaded.settings.origin(of: setting)
                guard setting.isSecret else {
                    let more = setting.key == Setting.upstreamProxy.key ? self.route(of: loaded.settings) : ""
                    return "\(setting.key): \(setting.write(loaded.settings)) (\(origin))\(more)"
                }
                let isSet = setting.write(loaded.settings) != "none"
                return "\(setting.key): \(isSet ? "set" : "not set") (\(origin))"
            }
    }

    /// Returns the proxy that `auto` selects, since it depends on variables that are not settings.
    private static func route(of settings: Settings) -> String {
        guard case .auto = settings.proxyChoice else { return "" }
        do throws(OperatorError) {
            guard let (proxy, origin) = try settings.proxy(for: settings.finnhub.upstream) else { return "; no proxy" }
            return "; \(proxy) (from \(origin))"
        } catch {
            return "; \(error.message)"
        }
    }
}
