import ArgumentParser
import SettingsManual

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

            EXAMPLES:
              tickertape config --check /etc/tickertape/config.yaml
              tickertape config --explain relay.allowed-origins
              tickertape config --diff
            """
    )

    @Option(
        help: ArgumentHelp("Check this config file, and end with 0, or with 78 and its mistake.", valueName: "file"),
        completion: .file()
    )
    var check: String?

    @Option(help: ArgumentHelp("Explain one setting: the manual's words, its default and its value.", valueName: "key"))
    var explain: String?

    @Flag(
        help: "Compare the settings with those of the running program, which its relay tells programs of this machine."
    )
    var diff = false

    @OptionGroup(title: "The service") var feed: FeedOptions
    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.feed, self.display, self.alerts, self.relay, self.record, self.common] }

    func validate() throws {
        guard [self.check != nil, self.explain != nil, self.diff].count(where: \.self) <= 1 else {
            throw ValidationError("--check, --explain and --diff cannot be combined.")
        }
        if self.check != nil, self.common.config != nil {
            throw ValidationError("--check names the config file; leave --config out.")
        }
        if let explain { _ = try Setting.known(explain).get() }
    }

    /// The flags, with the file that is checked in the place of the config file.
    var givenFlags: GivenFlags {
        var flags = GivenFlags()
        for group in self.groups { group.add(to: &flags) }
        if let check { flags.configFile = check }
        return flags
    }

    mutating func run() async throws {
        let loaded = try self.loadSettings()
        if self.check != nil {
            try loaded.settings.check()
            Console.print("\(loaded.file ?? ""): no mistake was found")
        } else if let explain {
            for line in Self.explanation(of: try Setting.known(explain).get(), loaded) { Console.print(line) }
        } else if self.diff {
            for line in try await SettingsDifference(loaded.settings).lines() { Console.print(line) }
        } else {
            for line in Self.listing(loaded) { Console.print(line) }
        }
    }

    /// Returns the manual's words about a setting, and what is true of it here.
    static func explanation(of setting: Setting, _ loaded: LoadedSettings) -> [String] {
        var lines = [setting.key] + YAMLOutline(SettingsManual.text).comment(of: setting.key).map { "  \($0)" }
        lines.append("  \(setting.help)")
        lines.append("default: \(setting.shown(Settings()))")
        let origin = loaded.settings.origin(of: setting)
        lines.append("now: \(setting.shown(loaded.settings)) (\(origin))")
        let flags = setting.flags.map { "--\($0)" } + (setting.isSecret ? [] : ["--set \(setting.key)=VALUE"])
        lines.append("given by: \(([setting.environment] + flags).joined(separator: ", "))")
        lines.append(
            setting.isReloadable
                ? "a change takes effect with a reload (SIGHUP)" : "a change takes effect with a restart only"
        )
        return lines
    }

    /// Returns the lines: the path of the config file, then `key: value (origin)` for each setting.
    static func listing(_ loaded: LoadedSettings) -> [String] {
        let file = loaded.file.map { "# config file: \($0)" } ?? "# config file: none"
        return [file]
            + Setting.all.map { setting in
                let origin = loaded.settings.origin(of: setting)
                let more = setting.key == Setting.upstreamProxy.key ? self.route(of: loaded.settings) : ""
                return "\(setting.key): \(setting.shown(loaded.settings)) (\(origin))\(more)"
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
