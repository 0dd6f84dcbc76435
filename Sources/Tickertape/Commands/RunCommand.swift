import ArgumentParser
import MockUpstream
import Terminal
import Wire

/// The command that follows the market, with a display, a relay and, if requested, a recording.
struct RunCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Follow the market in the terminal and relay it (the default command).",
        discussion: """
            Without a key it replays the bundled recording, marked DEMO; with --from venue it follows the exchanges' own \
            feeds, which need no key. When standard output is no terminal, or with \
            --format plain, json or csv, it prints one line a price; oneline and waybar are for status bars. With --once \
            it prints each symbol's price once and ends, with status 3 when one did not come, and with 78 when there is \
            no key.
            """
    )

    @Flag(help: "Play the bundled recording, marked DEMO, even when a key is set.") var demo = false

    @OptionGroup(title: "The service") var feed: FeedOptions
    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.feed, self.display, self.alerts, self.relay, self.record, self.common] }

    mutating func run() async throws {
        let reloadable = ReloadableSettings(try self.loadSettings()) { $0.followHoldings() }
        var settings = reloadable.settings
        SignalHandling.endAtOnce()
        guard !self.demo, settings.hasLiveFeed else { return try await self.playDemo(reloadable) }
        let watchlist =
            DisplayService.format(settings) == .tui
            ? WatchlistFile(settings) { Console.printError("warning: \($0)") } : nil
        var plan = try FeedPlan(settings, token: settings.token)
        if let watchlist {
            var listed = settings
            listed.finnhub.symbols = watchlist.load()
            do throws(OperatorError) {
                try listed.refuseDoubleSymbols()
                plan = try FeedPlan(listed, token: settings.token)
                settings = listed
            } catch {
                Console.printError("warning: the watchlist is not used: \(error)")
            }
        }
        try await TickerProgram(
            settings: settings,
            reloadable: reloadable,
            feed: plan,
            watchlist: watchlist
        ).run()
    }

    /// Replays the bundled recording in a loop, marked as a demo.
    private func playDemo(_ reloadable: ReloadableSettings) async throws {
        let settings = reloadable.settings
        // A script that asks for one market price must not get the demo's.
        guard self.demo || !settings.display.isOnce else {
            throw OperatorError(
                "no key is set, so there is no price to print: set FINNHUB_TOKEN, use --token-file, or --from venue for "
                    + "the exchange's own without a key; --demo prints the bundled recording's",
                status: .configuration
            )
        }
        guard let path = BundledRecording.path else {
            throw OperatorError(
                "\(self.demo ? "" : "no key is set, and ")the bundled recording is missing: set FINNHUB_TOKEN, or reinstall "
                    + "the program with its resources",
                status: .failure
            )
        }
        let isScreen = DisplayService.format(settings) == .tui
        let key = isScreen ? settings.keys[.live].first.map { ", or press \($0.label()) on its screen" } ?? "" : ""
        let hint = "the live market needs no key: start with --from venue\(key)"
        if !settings.display.isQuiet, !self.demo {
            Console.printError(
                "no key is set: this is the bundled recording (DEMO); \(hint); FINNHUB_TOKEN sets a key"
            )
        }
        if settings.auditsFinnhub || settings.fillsFinnhub {
            let setting = settings.fillsFinnhub ? "finnhub.fill" : "finnhub.audit"
            Console.printError("warning: \(setting) has no effect on the bundled recording; set FINNHUB_TOKEN")
        }
        var mockServer = MockServerSettings()
        mockServer.speed = 1
        mockServer.repeats = true
        mockServer.rebasesTimes = true
        let recording = try OperatorError.opening(recording: path)
        let symbols = recording.symbols
        let live = isScreen ? LiveStart { try Self.live(settings, shown: symbols) } : nil
        do {
            try await ReplayProgram(
                settings: settings,
                reloadable: reloadable,
                material: .recording(recording),
                mockServer: mockServer,
                source: .demo,
                note: "the bundled recording; \(hint)",
                liveStart: live
            )
            .run()
        } catch {
            await live?.end()
            throw error
        }
        await live?.end()
        try await live?.taken?.run()
    }

    /// Returns the program of the live market that follows a demo: as with `--from venue`, with the demo's symbols.
    ///
    /// - Parameter shown: the symbols of the demo's recording.
    private static func live(_ settings: Settings, shown: [String]) throws -> TickerProgram {
        var settings = settings
        settings.from = .venue
        // There are no trades of Finnhub's to compare.
        (settings.auditsFinnhub, settings.fillsFinnhub) = (false, false)
        let watchlist = WatchlistFile(settings) { _ in }
        let listed = watchlist?.load() ?? settings.finnhub.symbols
        let isChosen = settings.origin(of: .symbols) != .builtIn || listed != settings.finnhub.symbols
        // Symbols of Finnhub's alone stay behind.
        settings.finnhub.symbols = (isChosen ? listed : shown).filter { text in
            let symbol = ChosenSymbol(text)
            return symbol.feed != .finnhub && Venue(of: symbol.name) != nil
        }
        // A list without those that stay behind must not replace the user's.
        let isWhole = !isChosen || settings.finnhub.symbols.count == listed.count
        if settings.finnhub.symbols.isEmpty { settings.finnhub.symbols = ["BINANCE:BTCUSDT"] }
        return TickerProgram(
            settings: settings,
            feed: try FeedPlan(settings, token: nil),
            watchlist: isWhole ? watchlist : nil
        )
    }
}
