import ArgumentParser

/// Follows the market: display, relay and, when asked, recording.
struct RunCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Follow the market in the terminal and relay it (the default command).",
        discussion: """
            Without a key it replays the bundled recording, marked DEMO. When standard output is no terminal, or with \
            --format plain, json or csv, it prints one line a price; oneline and waybar are for status bars. With --once \
            it prints each symbol's price once and ends, with status 3 when one did not come, and with 78 when there is \
            no key.
            """
    )

    @Flag(help: "Play the bundled recording, marked DEMO, though there may be a key.") var demo = false

    @OptionGroup(title: "The service") var feed: FeedOptions
    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.feed, self.display, self.alerts, self.relay, self.record, self.common] }

    mutating func run() async throws {
        try await Assembly.run(self.loadSettings().settings, wantsDemo: self.demo)
    }
}
