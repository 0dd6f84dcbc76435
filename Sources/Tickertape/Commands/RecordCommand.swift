import ArgumentParser

/// The command that records what the service sends.
struct RecordCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write what the service sends to a file, with arrival times.",
        discussion: """
            Each line of the file is a frame as it came, so that `tickertape replay FILE` can live it again to the \
            byte. Display and relay work as with `run`; --quiet and --relay off switch them off. Without FILE it makes \
            one in the folder of record.directory, named by the time. An existing file is never overwritten.

            EXAMPLES:
              tickertape record --symbol BINANCE:BTCUSDT --symbol BINANCE:ETHUSDT
              tickertape record --quiet --relay off btc.jsonl
            """
    )

    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup(title: "The service") var feed: FeedOptions
    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay") var relay: RelayOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] {
        [self.feed, self.display, self.alerts, self.relay, self.common, FileArgument(file: self.file)]
    }

    mutating func run() async throws {
        let reloadable = ReloadableSettings(try self.loadSettings())
        var settings = reloadable.settings
        SignalHandling.endAtOnce()
        guard settings.hasLiveFeed else {
            throw OperatorError(
                "record needs a key: set FINNHUB_TOKEN, use --token-file, or --from venue for the exchanges' own feeds",
                status: .configuration
            )
        }
        if settings.record.file == nil {
            settings.record.file = RecordingName.makeNew(in: settings.record.directory, at: WallClock.now())
        }
        try await TickerProgram(
            settings: settings,
            reloadable: reloadable,
            feed: FeedPlan(settings, token: settings.token)
        ).run()
    }

    /// The file argument, as the setting `record.file`.
    private struct FileArgument: SettingFlags {
        var file: String?

        func add(to flags: inout GivenFlags) {
            if let file { flags.add(.recordFile, [file], flag: "FILE") }
        }
    }
}
