import ArgumentParser

/// Offers a recording to other programs as if it were the service.
struct ServeCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a recording as a stand-in Finnhub, for testing other clients.",
        discussion: """
            Each client gets the recording from its start, over TLS with a certificate for the host of --listen, made \
            at the start by a CA of its own. Give your client that CA's certificate with --ca-out.

            EXAMPLES:
              tickertape serve btc.jsonl --ca-out ca.pem
              FINNHUB_TOKEN=any tickertape --upstream wss://127.0.0.1:8443 --ca-file ca.pem
              tickertape serve btc.jsonl --plain --listen 127.0.0.1:9000 --speed max
            """
    )

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Where to listen; without --plain on any address.", valueName: "host:port"))
    var listen = Endpoint(host: "127.0.0.1", port: 8443)

    @OptionGroup var pace: PaceOptions

    @Flag(help: "Serve ws:// without TLS; only on this machine (127.0.0.1, [::1], localhost).")
    var plain = false

    @Option(
        name: .customLong("ca-out"),
        help: ArgumentHelp("Write the CA's certificate (PEM) to this file.", valueName: "file"),
        completion: .file()
    )
    var authorityOut: String?

    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.common] }

    func validate() throws {
        if self.plain && !self.listen.isLoopback {
            throw ValidationError("--plain is not encrypted, so --listen must be 127.0.0.1, [::1] or localhost.")
        }
        if self.plain && self.authorityOut != nil {
            throw ValidationError("--ca-out writes a certificate, and --plain has none; leave one of them out.")
        }
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        try await Assembly.serve(
            ServeOrder(
                recording: self.file,
                listen: self.listen,
                speed: self.pace.speed,
                isEncrypted: !self.plain,
                authorityOut: self.authorityOut
            ),
            settings
        )
    }
}

/// What `tickertape serve` was told beside the settings.
package struct ServeOrder: Sendable, Equatable {
    /// The recording's path.
    package var recording: String
    package var listen: Endpoint
    package var speed: ReplaySpeed
    /// Whether to speak TLS; when not, `listen` is a loopback address.
    package var isEncrypted: Bool
    /// Where to write the CA's certificate.
    package var authorityOut: String?

    package init(recording: String, listen: Endpoint, speed: ReplaySpeed, isEncrypted: Bool, authorityOut: String?) {
        self.recording = recording
        self.listen = listen
        self.speed = speed
        self.isEncrypted = isEncrypted
        self.authorityOut = authorityOut
    }
}

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    package var defaultValueDescription: String { "\(self)" }
}
