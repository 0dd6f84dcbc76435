import ArgumentParser
import Feeds
import Market
import MockUpstream
import NIOCore
import Recordings

/// The command that follows a simulated market.
struct SimulateCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Show and relay a simulated market, for demos and load.",
        discussion: """
            A market made from a seed, after the statistics of the real one: no key, no network, and the same prices for \
            the same seed. It comes in as a replay does, and is marked as one, SIMULATED. `tickertape serve --simulate` \
            offers it to other programs instead.

            EXAMPLES:
              tickertape simulate
              tickertape simulate --rate 5000 --burst 2000@30s --quiet
              tickertape simulate --symbol BINANCE:BTCUSDT --gap 5s@1m --repeats 0.02
              tickertape simulate --venue kraken
              tickertape simulate --seed 7 --duration 10m --write market.jsonl
            """
    )

    @OptionGroup(title: "The market") var market: MarketOptions

    @Option(
        name: .of(.symbols),
        help: ArgumentHelp("A symbol to trade; several may be given (default: two).", valueName: "symbol")
    )
    var symbols: [String] = []

    @Option(
        name: .customLong("speed"),
        help: ArgumentHelp("The speed, as a multiple of the market's: 0.01 to 10000, or max.", valueName: "n|max")
    )
    var speed = ReplaySpeed.recorded

    @Option(
        help: ArgumentHelp(
            "Write the market to this file as a recording, and end; needs --duration.",
            valueName: "file"
        ),
        completion: .file()
    )
    var write: String?

    @OptionGroup(title: "Display") var display: DisplayOptions
    @OptionGroup(title: "Display") var alerts: AlertOptions
    @OptionGroup(title: "Relay and recording") var relay: RelayOptions
    @OptionGroup(title: "Relay and recording") var record: RecordOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] {
        [SymbolFlags(symbols: self.symbols), self.display, self.alerts, self.relay, self.record, self.common]
    }

    func validate() throws {
        if self.write != nil, self.market.tempo.duration == nil {
            throw ValidationError("--write needs --duration: a market does not end by itself.")
        }
    }

    mutating func run() async throws {
        let reloadable = ReloadableSettings(try self.loadSettings())
        let settings = reloadable.settings
        let symbols = settings.origin(of: .symbols) == .builtIn ? nil : settings.symbolNames
        try self.market.tempo.check(symbols ?? [])
        if let write { return try self.writeMarket(of: symbols, to: write) }
        SignalHandling.endAtOnce()
        let run = self.market.run(symbols: symbols, start: WallClock.now() / 1_000_000)
        var mockServer = MockServerSettings()
        mockServer.speed = self.speed.factor
        // A real connection is closed for as long as data is missing.
        mockServer.replay.hasBreaks = self.market.tempo.gap != nil
        try await ReplayProgram(
            settings: settings,
            reloadable: reloadable,
            material: .market(run),
            mockServer: mockServer,
            source: .simulated(seed: self.market.seed, speed: self.speed.factor)
        ).run()
    }

    /// Records the market in a new file.
    private func writeMarket(of symbols: [String]?, to path: String) throws(OperatorError) {
        SignalHandling.removeUnfinishedFile()
        var bytes = 0
        do {
            let file = try OutputFile(path)
            try SimulatedRun.record(self.market.run(symbols: symbols, start: nil)) { piece in
                bytes += piece.readableBytes
                try file.write(piece)
            }
            try file.finish()
        } catch let failure as RecordingFailure {
            throw OperatorError(failure)
        } catch {
            throw OperatorError("cannot write \(path): \(error)", status: .failure)
        }
        Console.printError("wrote \(bytes) bytes to \(path)")
    }
}
