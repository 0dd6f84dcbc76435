import Configuration
import Market

/// The settings on the command line.
package struct GivenFlags: Sendable {
    /// The texts of one setting, and the flag that gave them.
    package struct Given: Sendable {
        package var setting: Setting
        package var texts: [String]
        package var flag: String
    }

    /// The file named by `--config`.
    package var configFile: String?
    package private(set) var values: [Given] = []

    package init() {}

    /// Adds a flag's texts; the last flag for a key wins.
    mutating func add(_ setting: Setting, _ texts: [String], flag: String) {
        self.values.append(Given(setting: setting, texts: texts, flag: flag))
    }
}

/// The settings in force, and the warnings about them.
package struct LoadedSettings: Sendable {
    package var settings: Settings
    /// The config file that was read.
    package var file: String?
    /// Warnings for standard error, one line each; they never hold a key.
    package var warnings: [String]
    /// Where they came from.
    package var source = SettingsSource()
}

/// Where the settings of a program come from: its command line, its environment, and through these the files.
package struct SettingsSource: Sendable {
    package var flags = GivenFlags()
    package var environment: [String: String] = [:]

    /// Loads the settings from there, again or for the first time.
    package func load() throws(OperatorError) -> LoadedSettings {
        try Settings.load(flags: self.flags, environment: self.environment)
    }
}

/// Nothing of it is shown, since a variable may be the key.
extension SettingsSource: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "the source of the settings" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Settings {
    /// Merges the layers: flags override the environment, the environment overrides the config file, the config file
    /// overrides the defaults.
    ///
    /// Every layer is validated in full. A mistake in a lower layer is reported even if a higher layer overrides the
    /// value.
    ///
    /// - Parameter readsSecrets: whether the key and the relay's token are read from their files.
    package static func load(
        flags: GivenFlags = GivenFlags(),
        environment: [String: String],
        readsSecrets: Bool = true
    ) throws(OperatorError) -> LoadedSettings {
        let source = SettingsSource(flags: flags, environment: environment)
        let environment = environment.filter { !$0.value.trimmingBlanks().isEmpty }
        try Self.refuseUnknownVariables(environment)
        let file = try SettingsFile.find(
            named: flags.configFile ?? environment["TICKERTAPE_CONFIG"],
            environment: environment
        )

        var settings = Settings()
        var token = TokenChoice()
        var warnings: [String] = []
        var layers: [Layer] = []
        if let file {
            try Self.refuseUnknownKeys(file)
            layers.append(Layer(file: file))
        }
        let credentialLayer = layers.count
        var secrets = SecretFolders()
        layers.append(Layer(environment: environment))
        layers.append(contentsOf: flags.values.map(Layer.init(given:)))
        for (index, layer) in layers.enumerated() {
            if index == credentialLayer {
                secrets = try SecretFolders(file: settings, environment: environment, flags: flags)
                token.considerCredential(in: secrets)
            }
            let written = try layer.apply(to: &settings)
            try token.consider(settings, written: written, file: file)
        }
        if readsSecrets {
            warnings += try token.settle(&settings)
            warnings += try RelayTokenChoice.settle(&settings, secrets)
            try secrets.settle(&settings)
            warnings += try settings.settleCluster(secrets)
        } else {
            settings.token = nil
        }
        settings.proxyVariables = ProxyVariables(environment)
        if let warning = try settings.checkProxyLogin(file) { warnings.append(warning) }
        try settings.refuseContradictions()
        try settings.refuseDoubleSymbols()
        try settings.refuseDisplayContradictions()
        try settings.refuseUnusableHoldings()
        try settings.refuseSharedKeys()
        if settings.dial.tls.verification == .disabled {
            warnings.append(
                "the service's certificate is not checked"
                    + (settings.dial.tls.pins.isEmpty ? "" : " except its public key")
                    + " (tls.verify \(settings.origin(of: "tls.verify")))"
            )
        }
        return LoadedSettings(settings: settings, file: file?.path, warnings: warnings, source: source)
    }

    private func refuseContradictions() throws(OperatorError) {
        let (backoff, watch) = (self.finnhub.backoff, self.finnhub.watch)
        let ping = self.finnhub.webSocket.pingInterval ?? .zero
        let pairs: [(most: String, least: String, isInOrder: Bool)] = [
            ("reconnect.max", "reconnect.min", backoff.first <= backoff.limit),
            (
                "reconnect.rate-limited-max", "reconnect.rate-limited-min",
                backoff.rateLimited <= backoff.rateLimitedLimit
            ),
            ("feed.cool-down-max", "feed.cool-down-min", watch.coolDown <= watch.coolDownLimit),
            ("feed.stale-limit", "feed.stale-after", watch.freshness.staleAfter <= watch.staleLimit),
            ("feed.retry-max", "feed.retry-refused", watch.retryRefused <= watch.retryLimit),
            ("feed.retry-max", "feed.retry-over-limit", watch.retryOverLimit <= watch.retryLimit),
            (
                "upstream.silent-after", "upstream.ping-interval",
                ping.nanoseconds <= self.finnhub.connection.silentAfter ?? .max
            ),
        ]
        for pair in pairs where !pair.isInOrder {
            throw self.contradiction(pair.most, pair.least, "must not be less than")
        }
        if (self.relayFiles.certificate == nil) != (self.relayFiles.key == nil) {
            let keys = ["relay.certificate-file", "relay.key-file"]
            let pair = self.relayFiles.key == nil ? keys : keys.reversed()
            throw self.contradiction(pair[0], pair[1], "has no effect without")
        }
        if self.dial.tls.verification == .disabled {
            if self.dial.tls.revocationListFile != nil {
                throw self.contradiction("tls.crl-file", "tls.verify", "cannot be combined with")
            }
            if self.dial.tls.stapling == .required {
                throw self.contradiction("tls.ocsp", "tls.verify", "cannot be combined with")
            }
        }
    }

    func contradiction(_ first: String, _ second: String, _ rule: String, hint: String? = nil) -> OperatorError {
        let named = [first, second].map { key in
            "\(key) (\(Setting.named(key)?.write(self) ?? ""), \(self.origin(of: key)))"
        }
        let isUsage = [first, second].contains { key in
            if case .flag = self.origin(of: key) { true } else { false }
        }
        let end = hint.map { "; \($0)" } ?? ""
        return OperatorError("\(named[0]) \(rule) \(named[1])\(end)", status: isUsage ? .usage : .configuration)
    }

    // MARK: Unknown names

    /// The variables with this prefix that are not settings: the path of the config file, and a variable of the build.
    private static let otherVariables: Set = ["TICKERTAPE_CONFIG", "TICKERTAPE_WARNINGS_AS_ERRORS"]

    private static func refuseUnknownVariables(_ environment: [String: String]) throws(OperatorError) {
        let known = Set(Setting.all.map(\.environment)).union(Self.otherVariables)
        for name in environment.keys.sorted() where name.hasPrefix("TICKERTAPE_") && !known.contains(name) {
            let hint =
                Self.nameOfKey(name) ?? (name.nearest(in: known) ?? Self.longer(name, in: known)).map {
                    "did you mean \($0)?"
                } ?? "`tickertape config` lists the settings"
            throw OperatorError("\(name): no setting has this environment variable; \(hint)", status: .configuration)
        }
    }

    /// Returns a hint for the obvious guess at the key's variable, which has Finnhub's name and not this prefix.
    private static func nameOfKey(_ name: String) -> String? {
        guard name == "TICKERTAPE_TOKEN" else { return nil }
        return "the key is \(Setting.token.environment), or is in the file that TICKERTAPE_TOKEN_FILE names"
    }

    /// Returns the shortest name that begins with this one. A secret that is read from a file only has just the longer
    /// name.
    private static func longer(_ name: String, in known: Set<String>) -> String? {
        known.filter { $0.hasPrefix("\(name)_") }.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    private static func refuseUnknownKeys(_ file: SettingsFile) throws(OperatorError) {
        var seen: Set<String> = []
        for key in file.keys {
            guard seen.insert(key).inserted else {
                throw OperatorError(
                    "\(key) (from \(file.place(of: key))): is given twice; keep one",
                    status: .configuration
                )
            }
            if Setting.named(key) != nil { continue }
            if Setting.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
                // A group whose settings are all commented out reads as a key without a value.
                if let value = try? file.values.value(forKey: AbsoluteConfigKey(ConfigKey(key)), type: .string).value,
                    case .string(let text) = value.content, ["", "~", "null"].contains(text)
                {
                    continue
                }
                throw OperatorError(
                    "\(key) (from \(file.place(of: key))): is a group of settings; indent them below it",
                    status: .configuration
                )
            }
            let hint =
                key.nearest(in: Setting.all.map(\.key)).map { "did you mean \($0)?" }
                ?? "`tickertape config` lists the settings"
            throw OperatorError(
                "\(key) (from \(file.place(of: key))): no such setting; \(hint)",
                status: .configuration
            )
        }
    }
}

/// One source of values: a provider of swift-configuration, with the origin of its values for messages.
private struct Layer {
    let snapshot: any ConfigSnapshot
    let settings: [Setting]
    let origin: (Setting) -> Origin
    let status: ExitStatus
    /// Returns where a setting was given, for messages.
    let place: (Setting) -> String

    init(file: SettingsFile) {
        self.place = { "from \(file.place(of: $0.key))" }
        self.snapshot = file.values
        self.settings = Setting.all
        self.origin = { _ in .file(file.path) }
        self.status = .configuration
    }

    init(environment: [String: String]) {
        let names = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.configKey, $0.environment) })
        let provider = EnvironmentVariablesProvider(
            environmentVariables: environment,
            secretsSpecifier: .specific(Set(Setting.all.filter(\.isSecret).map(\.environment)))
        )
        self.snapshot = provider.mapKeys { key in names[key].map { AbsoluteConfigKey([$0]) } ?? key }.snapshot()
        self.settings = Setting.all
        self.origin = { .environment($0.environment) }
        self.place = { "\(Origin.environment($0.environment))" }
        self.status = .configuration
    }

    init(given: GivenFlags.Given) {
        let content: ConfigContent =
            given.setting.isList || given.texts.count != 1 ? .stringArray(given.texts) : .string(given.texts[0])
        let provider = InMemoryProvider(
            name: given.flag,
            values: [given.setting.configKey: ConfigValue(content, isSecret: given.setting.isSecret)]
        )
        self.snapshot = provider.snapshot()
        self.settings = [given.setting]
        self.origin = { _ in .flag(given.flag) }
        self.place = { _ in "\(Origin.flag(given.flag))" }
        self.status = .usage
    }

    /// Writes every value of this layer over the lower layers' values, and returns the keys.
    func apply(to settings: inout Settings) throws(OperatorError) -> Set<String> {
        var written: Set<String> = []
        for setting in self.settings {
            guard let texts = self.texts(of: setting) else { continue }
            do throws(ParseError) {
                try setting.read(&settings, texts)
            } catch {
                let shown = error.echoes && !setting.isSecret && texts.count == 1 ? "\"\(texts[0].shortened)\" " : ""
                throw OperatorError(
                    "\(setting.key) (\(self.place(setting))): \(shown)\(error.reason)",
                    status: self.status
                )
            }
            settings.origins[setting.key] = self.origin(setting)
            written.insert(setting.key)
        }
        return written
    }

    /// Returns a setting's value as texts: several for a list, one for other types; `nil` if the layer does not have
    /// the setting.
    private func texts(of setting: Setting) -> [String]? {
        let types: [ConfigType] = setting.isList ? [.stringArray, .string] : [.string, .stringArray]
        for type in types {
            // The provider throws for a value of the other type; the next iteration asks for that type.
            guard let result = try? self.snapshot.value(forKey: setting.configKey, type: type) else { continue }
            switch result.value?.content {
            case .string(let text): return [text]
            // Several values for a single-valued setting become an empty list, so that its reader reports the mistake
            // instead of taking the first value.
            case .stringArray(let texts): return setting.isList ? texts : []
            default: return nil
            }
        }
        return nil
    }
}

extension String {
    /// One line of at most 80 characters.
    fileprivate var shortened: String {
        let line = PrintableText.line(self, limit: 80)
        return self.unicodeScalars.count > 80 ? line + "…" : line
    }
}
