import ArgumentParser
import Market
import Terminal

/// A group of flags that stand for settings.
protocol SettingFlags {
    /// Adds the flags that were given.
    func add(to flags: inout GivenFlags)
}

extension NameSpecification {
    /// Returns the flag names that a setting declares.
    static func of(_ setting: Setting) -> NameSpecification {
        NameSpecification(setting.flags.map { .customLong($0) })
    }
}

extension ArgumentHelp {
    /// Returns the help that a setting declares.
    static func of(_ setting: Setting, _ placeholder: String) -> ArgumentHelp {
        let initial = setting.write(Settings())
        return ArgumentHelp("\(setting.help) (default: \(initial))", valueName: placeholder)
    }
}

extension GivenFlags {
    mutating func add(_ setting: Setting, _ text: String?) {
        guard let text, let name = setting.flags.first else { return }
        self.add(setting, [text], flag: "--\(name)")
    }
}

/// The flags of every command.
struct CommonOptions: ParsableArguments, SettingFlags {
    @Option(name: .customLong("config"), help: ArgumentHelp("The config file to read.", valueName: "file"))
    var config: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Any setting by its key, as `tickertape config` lists them; lists take commas.",
            valueName: "key=value"
        )
    )
    var set: [String] = []

    @Option(name: .of(.logLevel), help: .of(.logLevel, "level"))
    var logLevel: String?

    @Option(name: .of(.logFormat), help: .of(.logFormat, "form"))
    var logFormat: String?

    func add(to flags: inout GivenFlags) {
        flags.configFile = self.config
        for text in self.set {
            // `validate` has checked the form.
            guard case .success(let (setting, value)) = Self.takeApart(text) else { continue }
            let texts = setting.isList ? value.split(separator: ",").map { $0.trimmingBlanks() } : [value]
            flags.add(setting, texts, flag: "--set \(setting.key)")
        }
        flags.add(.logLevel, self.logLevel)
        flags.add(.logFormat, self.logFormat)
    }

    func validate() throws {
        for text in self.set { _ = try Self.takeApart(text).get() }
    }

    private static func takeApart(_ text: String) -> Result<(Setting, String), ValidationError> {
        guard let equals = text.firstIndex(of: "=") else {
            return .failure(ValidationError("--set needs KEY=VALUE, for example --set upstream.ping-interval=30s"))
        }
        let key = text[..<equals].trimmingBlanks()
        let setting: Setting
        switch Setting.known(key) {
        case .success(let known): setting = known
        case .failure(let error): return .failure(ValidationError("--set \(error.message)"))
        }
        guard !setting.isSecret else {
            return .failure(
                ValidationError(
                    "--set \(key): every user of this machine can see the arguments; use \(setting.environment) or"
                        + " --\(setting.key == Setting.token.key ? "" : "set ")\(setting.key)-file"
                )
            )
        }
        return .success((setting, String(text[text.index(after: equals)...])))
    }
}

extension Setting {
    /// Returns the setting with a key of the command line, or the mistake with what was probably meant.
    static func known(_ key: String) -> Result<Setting, ValidationError> {
        if let setting = Self.named(key) { return .success(setting) }
        let hint =
            key.nearest(in: Self.all.map(\.key)).map { "did you mean \($0)?" }
            ?? "`tickertape config` lists the settings"
        return .failure(ValidationError("\(key): no such setting; \(hint)"))
    }
}

/// The flag for the authority of a server's certificate.
struct AuthorityOptions: ParsableArguments, SettingFlags {
    @Option(name: .of(.authorityFile), help: .of(.authorityFile, "file"), completion: .file())
    var authorityFile: String?

    func add(to flags: inout GivenFlags) {
        flags.add(.authorityFile, self.authorityFile)
    }
}

/// The flags for the connection to the service.
struct FeedOptions: ParsableArguments, SettingFlags {
    @Option(name: .of(.symbols), help: .of(.symbols, "symbol"))
    var symbols: [String] = []

    @Option(name: .of(.from), help: .of(.from, "feed"), completion: .list(FeedChoice.allCases.map(\.rawValue)))
    var from: String?

    @Flag(name: .of(.finnhubFill), help: ArgumentHelp(stringLiteral: Setting.finnhubFill.help))
    var fill = false

    @Flag(name: .of(.finnhubAudit), help: ArgumentHelp(stringLiteral: Setting.finnhubAudit.help))
    var audit = false

    @Option(name: .of(.upstreamURL), help: .of(.upstreamURL, "url"))
    var upstream: String?

    @OptionGroup var authority: AuthorityOptions

    @Option(name: .of(.tokenFile), help: .of(.tokenFile, "file"))
    var tokenFile: String?

    /// Accepted only so that it can be refused with a hint.
    @Option(name: .customLong("token"), help: .hidden)
    var token: String?

    func validate() throws {
        guard self.token != nil else { return }
        throw ValidationError(
            "--token: every user of this machine can see the arguments; use \(Setting.token.environment) or --token-file, "
                + "and get a new key if this one was real"
        )
    }

    func add(to flags: inout GivenFlags) {
        if !self.symbols.isEmpty { flags.add(.symbols, self.symbols, flag: "--symbol") }
        flags.add(.from, self.from)
        if self.audit { flags.add(.finnhubAudit, "true") }
        if self.fill { flags.add(.finnhubFill, "true") }
        flags.add(.upstreamURL, self.upstream)
        self.authority.add(to: &flags)
        flags.add(.tokenFile, self.tokenFile)
    }
}

/// The flags for the output and its pace.
struct DisplayOptions: ParsableArguments, SettingFlags {
    @Option(
        name: .of(.format),
        help: .of(.format, "format"),
        completion: .list(["auto"] + OutputFormat.allCases.map(\.rawValue))
    )
    var format: String?

    @Option(name: .of(.fields), help: .of(.fields, "field,..."))
    var fields: String?

    @Flag(name: .of(.isOnce), help: ArgumentHelp(stringLiteral: Setting.isOnce.help))
    var once = false

    @Option(name: .of(.onceWithin), help: .of(.onceWithin, "duration"))
    var onceWithin: String?

    @Option(name: .of(.rotation), help: .of(.rotation, "duration"))
    var rotate: String?

    @Flag(name: .of(.isQuiet), help: ArgumentHelp(stringLiteral: Setting.isQuiet.help))
    var quiet = false

    @Option(
        name: .of(.colour),
        help: .of(.colour, "when"),
        completion: .list(["auto", "always", "never", "16", "256", "full"])
    )
    var colour: String?

    @Option(
        name: .of(.displayTheme),
        help: .of(.displayTheme, "background"),
        completion: .list(["auto", "dark", "light"])
    )
    var theme: String?

    @Option(
        name: .of(.displayPalette),
        help: .of(.displayPalette, "palette"),
        completion: .list(["standard", "colour-blind"])
    )
    var palette: String?

    @Option(name: .of(.quiet), help: .of(.quiet, "duration"))
    var quietFor: String?

    @Option(name: .of(.atMost), help: .of(.atMost, "duration"))
    var atMost: String?

    func add(to flags: inout GivenFlags) {
        flags.add(.format, self.format)
        if let fields { flags.add(.fields, fields.split(separator: ",").map(String.init), flag: "--fields") }
        if self.once { flags.add(.isOnce, "true") }
        flags.add(.onceWithin, self.onceWithin)
        flags.add(.rotation, self.rotate)
        if self.quiet { flags.add(.isQuiet, "true") }
        flags.add(.colour, self.colour)
        flags.add(.displayTheme, self.theme)
        flags.add(.displayPalette, self.palette)
        flags.add(.quiet, self.quietFor)
        flags.add(.atMost, self.atMost)
    }
}

/// The flag for the relay's address.
struct RelayOptions: ParsableArguments, SettingFlags {
    @Option(name: .of(.relayListen), help: .of(.relayListen, "host:port|off"))
    var relay: String?

    func add(to flags: inout GivenFlags) {
        flags.add(.relayListen, self.relay)
    }
}

/// The flag for recording while running.
struct RecordOptions: ParsableArguments, SettingFlags {
    @Option(name: .of(.recordFile), help: .of(.recordFile, "file"))
    var record: String?

    func add(to flags: inout GivenFlags) {
        flags.add(.recordFile, self.record)
    }
}
