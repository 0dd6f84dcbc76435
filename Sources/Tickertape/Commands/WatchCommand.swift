import ArgumentParser
import Feeds
import Market
import Measurements
import NIOPosix
import Platform
import Terminal

/// Shows what a running relay sends.
struct WatchCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the prices of a tickertape that is already running.",
        discussion: """
            Needs no key and makes no connection to Finnhub: it reads the relay of the first tickertape, so any number \
            of displays can be open. After a break it goes on where it was. Every --format, --fields and --once work here too.

            EXAMPLES:
              tickertape watch                         the relay of the settings
              tickertape watch ws://127.0.0.1:9000 --format plain
              tickertape watch --once --symbol BINANCE:BTCUSDT --fields price,age
              tickertape watch wss://localhost:8080 --ca-file certificate.pem
            """
    )

    @Argument(
        help: ArgumentHelp("The relay's address, ws://HOST:PORT, wss://HOST:PORT or ws+unix:PATH.", valueName: "url")
    )
    var url: String?

    @Option(name: .of(.symbols), help: ArgumentHelp("A symbol to show; several may be given.", valueName: "symbol"))
    var symbols: [String] = []

    @Option(name: .of(.authorityFile), help: .of(.authorityFile, "file"), completion: .file())
    var authorityFile: String?

    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] {
        [SymbolFlags(symbols: self.symbols, authorityFile: self.authorityFile), self.display, self.alerts, self.common]
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let url = try self.relayURL(settings)
        EarlyStop.take()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let status = FeedStatus(source: .live, phase: .connecting, since: WallClock.now())
        let isChosen = settings.origin(of: .symbols) != .builtIn
        let symbols = isChosen ? settings.finnhub.symbols : []
        // The relay's times, and not ours, are what its trades have.
        let latency = LatencyBook(clocks: .relayed)
        let relay = WatchedRelay(symbols: symbols, monotonic: DisplayClock.monotonic)
        let shown = try DisplayPart(
            settings: settings,
            loop: loop,
            symbols: symbols,
            status: status,
            relay: { .watched("\(url)") },
            clients: nil,
            latency: latency,
            seesAllTrades: false,
            replay: { relay.position() }
        )
        guard let shown else {
            throw OperatorError("watch with --quiet shows nothing; leave --quiet out", status: .usage)
        }
        let logger = shown.logger
        var feedSettings = StreamFeed.Settings(
            relay: url,
            symbols: symbols
        )
        // A chart and a tape have a place for every trade of a break; lines are for the settled prices.
        feedSettings.takesEveryTrade = shown.isScreen
        feedSettings.dial = try settings.dial(to: url)
        feedSettings.token = settings.relayToken.map { APIKey($0.reveal()) }
        let display = shown.display
        let alerts = try AlertsPart(
            settings,
            loop: loop,
            source: .live,
            symbols: symbols,
            registry: MetricRegistry(),
            shown: shown,
            // What was set by key belongs to the program with the feed, and any number of these may run beside it.
            keeps: false,
            warn: { [isScreen = shown.isScreen] text in
                isScreen ? display.notice("warning: \(text)") : Console.complain("warning: \(text)")
            }
        )
        let past = shown.isScreen ? try StreamPast(feedSettings, on: loop, wallClock: WallClock.now) : nil
        let charts = EarlierCharts(past, display: shown.display, loop: loop)
        let feed = try await StreamFeed.make(
            settings: feedSettings,
            loop: loop,
            logger: logger,
            wallClock: WallClock.now
        ) { event in
            switch event {
            case .message(let message):
                relay.show(message, on: display)
                alerts.reader.take(message)
                charts.take(message, chosen: symbols)
            case .lost(let status):
                relay.showLost(status, on: display)
            }
        }
        shown.connect(
            ScreenControls.make(
                watching: feed,
                display: display,
                symbols: symbols,
                alerts: alerts,
                charts: charts,
                // It asks Finnhub's REST service, which does not use the key's one connection.
                desk: settings.token == nil ? nil : Result { () throws(OperatorError) in try ServiceDesk(settings) }
            )
        )
        defer { if !settings.display.isOnce { TickerProgram.report(latency) } }
        try await TickerProgram.live(
            [shown.part, alerts.part, ProgramPart("feed") { try await feed.run() }, charts.part],
            hasScreen: shown.isScreen
        )
        await group.end()
    }

    /// The address on the command line, or the relay's own of the settings.
    func relayURL(_ settings: Settings) throws(OperatorError) -> UpstreamAddress {
        guard let text = self.url else {
            if let listen = settings.relay.listen {
                let isEncrypted = settings.relayFiles.certificate != nil
                return UpstreamAddress(isEncrypted: isEncrypted, host: listen.fromHere.host, port: listen.port)
            }
            if let path = settings.relay.unixSocket { return UpstreamAddress(socketPath: path) }
            throw OperatorError("the relay is off in the settings; name one: tickertape watch URL", status: .usage)
        }
        let scheme = "ws+unix:"
        if text.hasPrefix(scheme) {
            // The path of the file, and behind a colon that of the request.
            let parts = text.dropFirst(scheme.count).split(separator: ":", maxSplits: 1)
            guard let path = parts.first, !path.contains("?"),
                parts.count == 1 || parts[1] == "/" || parts[1] == "/v1/stream"
            else { throw OperatorError("the URL is not of the form ws+unix:PATH", status: .usage) }
            return UpstreamAddress(socketPath: String(path))
        }
        do throws(Misfit) {
            return try UpstreamAddress(text)
        } catch {
            throw OperatorError(
                error.echoes ? "\"\(text)\" \(error.reason)" : "the URL \(error.reason)",
                status: .usage
            )
        }
    }
}

/// The symbols alone, for commands that do not connect to the service.
struct SymbolFlags: SettingFlags {
    var symbols: [String]
    var authorityFile: String? = nil

    func add(to flags: inout GivenFlags) {
        if !self.symbols.isEmpty { flags.add(.symbols, self.symbols, flag: "--symbol") }
        flags.add(.authorityFile, self.authorityFile)
    }
}
