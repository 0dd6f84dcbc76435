import Relay
import Market
import TLS
import Feeds
import ArgumentParser
import NIOCore
import Testing
@testable import Tickertape

@Suite("Where settings come from")
struct SettingsLayersTests {
    private let folder = ScratchFolder()

    /// Loads the settings with a config file of the given text.
    private func load(
        _ yaml: String? = nil,
        environment: [String: String] = [:],
        flags: [(Setting, [String])] = []
    ) throws -> LoadedSettings {
        var given = GivenFlags()
        given.configFile = yaml.map { self.folder.file("config.yaml", $0) }
        for (setting, texts) in flags { given.add(setting, texts, flag: "--\(setting.flags[0])") }
        // An empty folder hides the config files of the user who runs the tests.
        return try Settings.load(
            flags: given,
            environment: ["XDG_CONFIG_HOME": self.folder.path].merging(environment) { $1 }
        )
    }

    private func failure(_ body: () throws -> LoadedSettings) -> OperatorError {
        do {
            _ = try body()
            return OperatorError("nothing was thrown", status: .success)
        } catch {
            return error as? OperatorError ?? OperatorError("\(error)", status: .failure)
        }
    }

    @Test("without anything, the defaults are in force")
    func defaults() throws {
        let loaded = try self.load()
        #expect(loaded.settings == Settings())
        #expect(loaded.file == nil)
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.settings.origin(of: "pipeline.quiet") == .builtIn)
    }

    @Test("flags win over the environment, the environment over the file, the file over the defaults")
    func precedence() throws {
        let yaml = """
            pipeline:
              quiet: 1ms
              at-most: 101ms
            relay:
              max-clients: 7
            """
        let variables = ["TICKERTAPE_PIPELINE_QUIET": "2ms", "TICKERTAPE_PIPELINE_AT_MOST": "102ms"]
        let loaded = try self.load(yaml, environment: variables, flags: [(.quiet, ["3ms"])])
        #expect(loaded.settings.relay.pipeline.quiet == 3_000_000)
        #expect(loaded.settings.origin(of: "pipeline.quiet") == .flag("--quiet-for"))
        #expect(loaded.settings.relay.pipeline.atMost == 102_000_000)
        #expect(loaded.settings.origin(of: "pipeline.at-most") == .environment("TICKERTAPE_PIPELINE_AT_MOST"))
        #expect(loaded.settings.relay.maximumClients == 7)
        #expect(loaded.settings.origin(of: "relay.max-clients") == .file(loaded.file!))
        #expect(loaded.settings.origin(of: "log.level") == .builtIn)
    }

    @Test("every setting can be given in the file, in the environment and by --set, and comes back as it was written")
    func everySettingEverywhere() throws {
        let tokenFile = self.folder.file("client-token", "sixteen-characters-or-more\n")
        for setting in Setting.all where !setting.isSecret && setting.key != "token-file" {
            // This file is read while the settings are loaded.
            let usual = setting.key.hasPrefix("keys.") ? "ctrl-x" : ""
            let value = setting.key == "relay.token-file" ? tokenFile : Self.unusual[setting.key] ?? usual
            #expect(!value.isEmpty, "\(setting.key) needs a value in this test")
            let text = setting.isList ? "[\(value)]" : value

            // A setting of a pair is an error without the other.
            let other = Self.partners[setting.key].flatMap { key in Setting.all.first { $0.key == key } }
            let beside = other.map { ($0, Self.unusual[$0.key] ?? "") }

            let lines = ["\"\(setting.key)\": \(text)"] + (beside.map { ["\"\($0.key)\": \($1)"] } ?? [])
            let fromFile = try self.load(lines.joined(separator: "\n")).settings
            #expect(setting.write(fromFile) == text, "\(setting.key) in the file")

            var variables = [setting.environment: value]
            if let beside { variables[beside.0.environment] = beside.1 }
            let fromEnvironment = try self.load(environment: variables).settings
            #expect(setting.write(fromEnvironment) == text, "\(setting.environment)")

            let pair = beside.map { ["--set", "\($0.key)=\($1)"] } ?? []
            let common = try CommonOptions.parse(["--set", "\(setting.key)=\(value)"] + pair)
            var flags = GivenFlags()
            common.add(to: &flags)
            let fromFlag = try Settings.load(flags: flags, environment: ["XDG_CONFIG_HOME": self.folder.path]).settings
            #expect(setting.write(fromFlag) == text, "--set \(setting.key)")
            #expect(
                setting.write(fromFlag) != setting.write(Settings()),
                "\(setting.key): the value must not be the default"
            )
        }
    }

    private static let partners = [
        "relay.certificate-file": "relay.key-file", "relay.key-file": "relay.certificate-file",
        "display.once-within": "display.once", "display.rotate": "display.format",
    ]

    static let unusual: [String: String] = [
        "groups": "Two = A:B C:D by change reversed", "holdings.lots": "A:B 0.25 at 61000.5 USDT",
        "notes": "A:B violet mine",
        "holdings.rates": "A:B EUR/USDT", "holdings.currency": "USDT", "holdings.hidden": "true",
        "holdings.clients": "never", "display.mouse": "true", "display.rotate": "5s",
        "symbols": "A:B, IC MARKETS:1", "upstream.url": "wss://example.com:8443/x",
        "upstream.proxy": "http://proxy.test:3128", "upstream.ping-interval": "7s",
        "upstream.pong-timeout": "8s", "upstream.max-message": "2MiB", "tls.ca-file": "/ca.pem", "tls.verify": "false",
        "tls.crl-file": "/crl.pem", "tls.ocsp": "off", "tls.ciphers": "ECDHE-RSA-AES128-GCM-SHA256",
        "tls.pin": "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "handshake.dns-timeout": "1s", "handshake.tcp-timeout": "2s", "handshake.tls-timeout": "3s",
        "handshake.upgrade-timeout": "4s", "reconnect.min": "600ms", "reconnect.max": "2m",
        "reconnect.at-least": "50ms",
        "reconnect.settled": "45s",
        "reconnect.rate-limited-min": "30s",
        "reconnect.rate-limited-max": "10m",
        "reconnect.rejected-key": "20m",
        "reconnect.brief": "3s",
        "reconnect.brief-limit": "4",
        "reconnect.key-in-use": "90s",
        "from": "venue", "finnhub.audit": "true", "finnhub.fill": "true", "venues.backfill": "false",
        "venues.binance-url": "wss://binance.example/stream", "venues.binance-service": "https://binance.example",
        "venues.coinbase-url": "wss://coinbase.example", "venues.coinbase-service": "https://coinbase.example",
        "venues.kraken-url": "wss://kraken.example/v2", "venues.kraken-service": "https://kraken.example",
        "service.url": "https://example.com/api/v2", "service.timeout": "4s", "service.cache-directory": "/var/cache/x",
        "display.fields": "symbol, price", "display.once": "true", "display.once-within": "5s",
        "alerts.rules": "A:B above 60000 hysteresis 1% once, X moves 2% in 5m", "alerts.actions": "flash, osc9",
        "alerts.hysteresis": "0.25%", "alerts.cooldown": "5m", "alerts.quiet-hours": "22:00-07:00",
        "alerts.exec": "/bin/tell, -v, -v", "alerts.exec-timeout": "3s", "alerts.exec-at-once": "2",
        "alerts.webhook-file": "/webhook", "alerts.webhook-ca-file": "/ca.pem",
        "state.directory": "/var/lib/tickertape",
        "state.runtime-directory": "off", "pipeline.quiet": "50ms",
        "pipeline.at-most": "none", "display.format": "waybar", "display.colour": "never", "display.quiet": "true",
        "display.keep-watchlist": "false", "relay.replay-control": "off",
        "display.theme": "light", "display.palette": "colour-blind", "display.grouping": "space",
        "display.bytes-per-second": "2KiB", "display.decimal": "comma", "display.time-zone": "UTC",
        "display.columns": "price, symbol",
        "display.flash": "false",
        "display.title": "false",
        "record.file": "out.jsonl", "record.directory": "/var/lib", "history.file": "off",
        "record.flush-interval": "20ms", "record.sync-interval": "2s", "record.segment-size": "1MiB",
        "record.compress": "false", "record.keep-days": "7", "record.keep-size": "10GiB", "relay.listen": "off",
        "relay.ping-interval": "9s",
        "relay.pong-timeout": "11s", "relay.max-clients": "5", "relay.max-waiting": "2MiB",
        "relay.max-message": "1MiB", "relay.unix-socket": "/run/tickertape.sock",
        "relay.host-names": "ticker.test, other.test", "relay.max-clients-per-address": "6",
        "relay.max-plain-connections": "7", "relay.request-burst": "8", "relay.requests-per-second": "9",
        "relay.certificate-file": "/relay.pem", "relay.key-file": "/relay.key", "relay.handshake-timeout": "12s",
        "relay.max-headers": "4KiB", "relay.unsubscribe-grace": "30s",
        "relay.allowed-origins": "http://localhost:3000, https://example.com",
        "relay.compression": "on", "relay.wamp": "true", "wamp.broker": "true",
        "relay.rooms": "true",
        "lines.listen": "127.0.0.1:7071",
        "cluster.role": "edge", "cluster.name": "second", "cluster.member": "host-b",
        "cluster.servers": "tls://nats.example:4223", "cluster.identity-file": "/nats.creds",
        "log.level": "debug", "log.format": "json", "log.repeats": "5", "log.levels.feed": "debug",
        "log.levels.relay": "error", "log.levels.tls": "trace", "log.levels.recorder": "warning",
        "log.levels.history": "notice", "log.levels.alerts": "critical", "log.levels.audit": "info",
        "log.levels.serve": "debug", "reload.watch": "true", "secrets.directory": "/tmp",
        "upstream.silent-after": "2m", "upstream.max-symbols": "6",
        "upstream.subscribe-interval": "10ms", "upstream.drop-repeats": "true", "feed.late-after": "6s",
        "feed.stale-after": "40s", "feed.stale-factor": "4", "feed.stale-limit": "2h", "feed.cool-down-min": "50s",
        "feed.cool-down-max": "20m", "feed.retry-refused": "6m", "feed.retry-over-limit": "7m", "feed.retry-max": "2h",
    ]

    @Test("no two settings share a key, a variable or a flag, and each is listed")
    func namesAreUnique() {
        #expect(Set(Setting.all.map(\.key)).count == Setting.all.count)
        #expect(Set(Setting.all.map(\.environment)).count == Setting.all.count)
        let flags = Setting.all.flatMap(\.flags)
        #expect(Set(flags).count == flags.count)
    }

    @Test("a setting's variable is made of its key; the key of the service keeps Finnhub's name")
    func variables() {
        #expect(Setting.atMost.environment == "TICKERTAPE_PIPELINE_AT_MOST")
        #expect(Setting.token.environment == "FINNHUB_TOKEN")
    }

    @Test("an empty variable is ignored")
    func emptyVariable() throws {
        #expect(
            try self.load(environment: ["TICKERTAPE_RELAY_LISTEN": "", "FINNHUB_TOKEN": " "]).settings == Settings()
        )
    }

    @Test(
        "a variable that resembles the key's, or begins like a file's, is refused with the right name",
        arguments: [
            ("TICKERTAPE_TOKEN", "the key is FINNHUB_TOKEN, or is in the file that TICKERTAPE_TOKEN_FILE names"),
            ("TICKERTAPE_RELAY_TOKEN", "did you mean TICKERTAPE_RELAY_TOKEN_FILE?"),
        ]
    )
    func nearlyTheKey(name: String, words: String) {
        let error = self.failure { try self.load(environment: [name: "abc"]) }
        #expect(error.message.hasSuffix(words), "\(error)")
    }

    @Test("an unknown variable of ours is an error that names it and the one that was meant")
    func unknownVariable() {
        let error = self.failure { try self.load(environment: ["TICKERTAPE_RELAY_LISTN": "off"]) }
        #expect(error.status == .configuration)
        #expect(error.message.contains("TICKERTAPE_RELAY_LISTN"))
        #expect(error.message.contains("TICKERTAPE_RELAY_LISTEN?"))
    }

    @Test("an invalid value is reported with key, origin, value and hint, even if a higher layer overrides it")
    func badValues() {
        let inFile = self.failure { try self.load("pipeline:\n  quiet: soon", flags: [(.quiet, ["1ms"])]) }
        #expect(inFile.status == .configuration)
        #expect(
            inFile.message.hasPrefix(
                "pipeline.quiet (from \(self.folder.path)/config.yaml:2): \"soon\" is not a duration"
            )
        )

        let inEnvironment = self.failure { try self.load(environment: ["TICKERTAPE_LOG_LEVEL": "loud"]) }
        #expect(inEnvironment.status == .configuration)
        #expect(
            inEnvironment.message.hasPrefix("log.level (from TICKERTAPE_LOG_LEVEL): \"loud\" is not one of trace, ")
        )

        let inFlag = self.failure { try self.load(flags: [(.relayListen, ["8080"])]) }
        #expect(inFlag.status == .usage)
        #expect(inFlag.message.hasPrefix("relay.listen (from --relay): \"8080\" is not HOST:PORT"))
    }

    @Test("messages are one line, however the value looks")
    func oneLine() {
        let error = self.failure {
            try self.load(environment: [
                "TICKERTAPE_LOG_LEVEL": "a\nb\u{1b}[31m" + String(repeating: "x", count: 10_000)
            ])
        }
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        #expect(error.message.count < 300)
    }

    @Test("two values that contradict each other are named with their origins")
    func contradiction() {
        let error = self.failure { try self.load("reconnect:\n  min: 2m") }
        #expect(
            error.message
                == "reconnect.max (1m, default) must not be less than reconnect.min (2m, from \(self.folder.path)/config.yaml)"
        )
        #expect(error.status == .configuration)
    }

    @Test(
        "a longest that is shorter than its shortest is refused, and so is a silence shorter than the pings",
        arguments: [
            ("reconnect:\n  rate-limited-min: 10m", "reconnect.rate-limited-max"),
            ("feed:\n  cool-down-max: 1s", "feed.cool-down-max"),
            ("feed:\n  stale-limit: 1s", "feed.stale-limit"),
            ("feed:\n  retry-max: 1m", "feed.retry-max"),
            ("upstream:\n  silent-after: 15s", "upstream.silent-after"),
        ]
    )
    func otherContradictions(_ file: String, _ named: String) {
        let error = self.failure { try self.load(file) }
        #expect(error.message.hasPrefix(named) && error.message.contains("must not be less than"))
        #expect(error.status == .configuration)
    }

    @Test("revocation cannot be demanded while certificates are not checked; a pin can")
    func uncheckedRevocation() throws {
        let lists = self.failure { try self.load("tls:\n  verify: false\n  crl-file: /crl.pem") }
        let file = "\(self.folder.path)/config.yaml"
        #expect(
            lists.message
                == "tls.crl-file (/crl.pem, from \(file)) cannot be combined with tls.verify (false, from \(file))"
        )
        let answers = self.failure { try self.load("tls:\n  verify: false\n  ocsp: required") }
        #expect(
            answers.message
                == "tls.ocsp (required, from \(file)) cannot be combined with tls.verify (false, from \(file))"
        )
        let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let loaded = try self.load("tls:\n  verify: false\n  pin: [\(pin)]")
        #expect(loaded.settings.dial.tls.pins.map { "\($0)" } == [pin])
        #expect(loaded.warnings.first?.contains("not checked except its public key") == true, "\(loaded.warnings)")
    }

    @Test("an invalid pin is repeated, with the right form")
    func badPin() {
        let error = self.failure { try self.load("tls:\n  pin: [abc]") }
        #expect(
            error.message.hasSuffix(
                "holds \"abc\", which is not a public key's digest; write it like sha256/ and 44 characters of Base64"
            ),
            "\(error.message)"
        )
    }

    @Test("switching the certificate check off is warned about with where it was done")
    func insecure() throws {
        let loaded = try self.load("tls:\n  verify: false")
        #expect(loaded.settings.dial.tls.verification == .disabled)
        #expect(loaded.warnings.count == 1 && loaded.warnings[0].contains("tls.verify from "))
    }

    @Test("lists take a list or one value in the file, commas in the environment, and keep each value once")
    func lists() throws {
        #expect(try self.load("symbols: A:B").settings.finnhub.symbols == ["A:B"])
        #expect(try self.load("symbols: [A:B, C:D, A:B]").settings.finnhub.symbols == ["A:B", "C:D"])
        #expect(try self.load("symbols:\n- A:B\n- IC MARKETS:1").settings.finnhub.symbols == ["A:B", "IC MARKETS:1"])
        #expect(
            try self.load(environment: ["TICKERTAPE_SYMBOLS": "A:B, C:D"]).settings.finnhub.symbols == ["A:B", "C:D"]
        )
        #expect(self.failure { try self.load("symbols: []") }.message.contains("it may have 1 to 1000"))
        #expect(
            self.failure { try self.load(environment: ["TICKERTAPE_SYMBOLS": "A,,B"]) }.message.contains(
                "holds \"\", which is not a symbol"
            )
        )
    }
}
