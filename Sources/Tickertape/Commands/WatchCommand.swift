import ArgumentParser
import Feeds
import Market
import Measurements
import NIOPosix
import Platform
import Terminal

/// The command that shows the trades of a running relay.
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

    @OptionGroup var authority: AuthorityOptions
    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] {
        [SymbolFlags(symbols: self.symbols), self.authority, self.display, self.alerts, self.common]
    }

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let url = try self.relayURL(settings)
        SignalHandling.endAtOnce()
        Console.queueErrors()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let status = FeedStatus(source: .live, phase: .connecting, since: WallClock.now())
        let isChosen = settings.origin(of: .symbols) != .builtIn
        let symbols = isChosen ? settings.symbolNames : []
        // The times of its trades are the relay's, not this process's.
        let latency = LatencyBook(clocks: .relayed)
        let relay = WatchedRelay(symbols: symbols, monotonic: SystemClock.monotonic)
        let service = try DisplayService(
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
        guard let service else {
            throw OperatorError("watch with --quiet shows nothing; leave --quiet out", status: .usage)
        }
        let warnings = Warnings()
        warnings.show(on: service)
        let display = service.display
        let alerts = try AlertService(
            settings,
            loop: loop,
            source: .live,
            symbols: symbols,
            registry: MetricRegistry(),
            display: service,
            // Changes at the screen are stored by the program with the feed. Several `watch` processes may run beside
            // it.
            keeps: false,
            warnings: warnings
        )
        var stream = StreamSubscriber.Settings(relay: url, symbols: symbols)
        // A chart and a tape show every trade of an outage; lines show settled prices only.
        stream.takesEveryTrade = service.isScreen
        stream.dial = try settings.dial(to: url)
        stream.token = settings.relayToken
        let past = service.isScreen ? try StreamPast(stream, on: loop, wallClock: WallClock.now) : nil
        let charts = EarlierCharts(past, display: display, loop: loop)
        let subscriber = try await StreamSubscriber.make(
            settings: stream,
            loop: loop,
            logger: service.logger,
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
        let list = ScreenSymbols(
            symbols: symbols,
            source: WatchedSymbols(subscriber: subscriber, charts: charts),
            display: display
        )
        var roomSettings = RoomConnection.Settings { url }
        roomSettings.dial = stream.dial
        roomSettings.token = stream.token
        let rooms = ScreenRoomService(roomSettings, loop: loop, logger: service.logger)
        var remote = self.controls(settings, symbols: list, subscriber: subscriber, alerts: alerts)
        remote.rooms = .can(rooms)
        defer { if !settings.display.isOnce { latency.printError() } }
        try await NamedService.run(
            [
                service.part(remote), rooms.part, alerts.part, NamedService("feed") { try await subscriber.run() },
                charts.part,
            ],
            hasScreen: service.isScreen
        )
        await group.end()
    }

    /// Returns the actions that the screen's keys can start.
    private func controls(
        _ settings: Settings,
        symbols: ScreenSymbols,
        subscriber: StreamSubscriber,
        alerts: AlertService
    ) -> DisplayRemote {
        var remote = DisplayRemote(without: "ask for this at the tickertape whose relay is watched")
        remote.connect(to: symbols)
        remote.connect(to: alerts)
        let clock = settings.screenClock
        remote.reconnect = .can { await subscriber.reconnect().remark(clock: clock) }
        remote.replay = .cannot("this is not a replay of this program; pause it where it runs")
        if settings.token == nil {
            remote.search = .cannot(
                "type the whole name, such as BINANCE:ETHUSDT; names are searched with FINNHUB_TOKEN set"
            )
            remote.news = .cannot("news are Finnhub's: set FINNHUB_TOKEN, also where a relay is watched")
        } else {
            // The lookup uses Finnhub's REST service, and not the key's only stream connection.
            remote.connect(to: Result { () throws(OperatorError) in try ServiceLookup(settings) })
        }
        return remote
    }

    /// Returns the address on the command line, or the address of the relay in the settings.
    func relayURL(_ settings: Settings) throws(OperatorError) -> UpstreamAddress {
        try settings.relayURL(self.url, command: "watch")
    }
}

/// The symbols of a watched relay, whose charts start with the relay's bars.
private struct WatchedSymbols: ScreenSymbolSource {
    let subscriber: StreamSubscriber
    let charts: EarlierCharts

    func add(_ symbol: String) async -> String? {
        if let problem = await self.subscriber.retain(symbol) { return problem }
        self.charts.added(symbol)
        return nil
    }

    func remove(_ symbol: String) async {
        self.subscriber.unsubscribe(symbol)
        self.charts.forget(symbol)
    }
}
