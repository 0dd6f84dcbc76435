import Alerts
import Ingest
package import Market
import Measurements
import NIOCore
package import NIOEmbedded
import Relay
import Terminal
package import Wire

/// All consumers of a tape that produce bytes, on a loop with virtual time and with a digest in place of every output.
///
/// It serves the proof that the same recording gives the same bytes. Everything that depends on a machine, a user or a
/// run is fixed: the settings are the defaults, and no version, name, address or environment is read. It must be used
/// on the thread that created the loop.
package final class OutputHarness {
    /// The default rules, which fire in most markets.
    package static let usualRules = [
        "* new high", "* new low", "* moves 0.1% in 1m", "* stale for 10s", "* back after 10s",
    ]

    /// The input of the harness.
    package struct Plan: Sendable {
        package var symbols: [String]
        /// The feed's status before its first report.
        package var status: FeedStatus
        package var epoch: UInt64
        package var rules: [AlertRule] = []
        /// Returns the replay's position.
        package var position: @Sendable () -> ReplayPosition
        package var keepsBytes = false
        /// The dialect of the first feed's frames.
        package var dialect = FrameDialect.finnhub

        package init(
            symbols: [String],
            status: FeedStatus,
            epoch: UInt64,
            position: @escaping @Sendable () -> ReplayPosition
        ) {
            self.symbols = symbols
            self.status = status
            self.epoch = epoch
            self.position = position
        }
    }

    /// The readers of the tape.
    package private(set) var readers: [any TapeReader] = []
    private let plan: Plan
    private let loop: EmbeddedEventLoop
    private let wallClock: @Sendable () -> Int64
    private var outputs: [OutputDigest] = []
    private var displays: [PriceDisplay] = []
    private var lines: [LineHarness] = []
    private var screens: [ScreenHarness] = []
    private var relays: [RelayHarness] = []
    private var recorder: RecorderHarness?
    /// The digest of the bars that a client could request at the end.
    private let bars: OutputDigest

    /// - Parameter wallClock: returns the wall clock, ns since 1970.
    package init(_ plan: Plan, loop: EmbeddedEventLoop, wallClock: @escaping @Sendable () -> Int64) throws {
        self.plan = plan
        self.loop = loop
        self.wallClock = wallClock
        self.bars = OutputDigest("bars", keepsBytes: plan.keepsBytes)
        self.outputs = [self.bars]
        self.runTrades()
        self.runAlerts()
        self.runLines()
        for size in [ScreenGrid.Size(columns: 80, rows: 24), ScreenGrid.Size(columns: 40, rows: 10)] {
            self.runScreen(size)
        }
        let recorder = try RecorderHarness(
            symbols: plan.symbols,
            epoch: plan.epoch,
            dialect: plan.dialect,
            output: self.output("recording"),
            loop: loop,
            wallClock: wallClock
        )
        self.recorder = recorder
        self.readers.append(recorder)
        try self.runRelays()
    }

    private func output(_ name: String) -> OutputDigest {
        let output = OutputDigest(name, keepsBytes: self.plan.keepsBytes)
        self.outputs.append(output)
        return output
    }

    // MARK: Outputs

    private func runTrades() {
        self.readers.append(TradeList(NIOLoopBound(self.output("trades"), eventLoop: self.loop)))
    }

    private func runAlerts() {
        var settings = AlertEvaluator.Settings()
        settings.isReplay = true
        let output = NIOLoopBound(self.output("alerts"), eventLoop: self.loop)
        var actions = AlertReader.Actions()
        actions.fired.append { alert in
            output.value.take(AlertText.json(alert))
            output.value.take("\n")
        }
        self.readers.append(
            AlertReader(
                board: AlertBoard(rules: self.plan.rules),
                loop: self.loop,
                settings: settings,
                symbols: self.plan.symbols,
                actions: actions,
                registry: MetricRegistry(),
                wallClock: self.wallClock
            )
        )
        // Sets the rules before the first trade.
        self.loop.run()
    }

    private func runLines() {
        for format in OutputFormat.allCases where format != .tui {
            var settings = LinePrinter.Settings(format: format)
            settings.symbols = self.plan.symbols
            let lines = LineHarness(
                settings,
                status: self.plan.status,
                output: self.output("lines-\(format.rawValue)"),
                errors: format == .plain ? self.output("lines-notices") : nil,
                loop: self.loop,
                wallClock: self.wallClock
            )
            self.lines.append(lines)
            self.show(lines.display)
        }
    }

    private func runScreen(_ size: ScreenGrid.Size) {
        let screen = ScreenHarness(
            size: size,
            settings: DisplaySettings(byteLimit: .none),
            output: self.output("screen-\(size.columns)x\(size.rows)"),
            loop: self.loop,
            wallClock: self.wallClock
        )
        self.screens.append(screen)
        self.show(screen.display)
    }

    private func show(_ output: any DisplayOutput) {
        let display = PriceDisplay(
            output: output,
            loop: self.loop,
            symbols: self.plan.symbols,
            // Separate prices for each output, so that no output's bytes depend on another's.
            prices: SettledPrices(settings: PricePipeline.Settings(), loop: self.loop),
            status: self.plan.status,
            relay: nil,
            clients: nil,
            limits: FreshnessLimits(),
            replay: self.plan.position,
            wallClock: self.wallClock
        )
        self.displays.append(display)
        self.readers.append(display)
    }

    private func runRelays() throws {
        try self.makeRelay().admitDropIn(asking: self.plan.symbols, output: self.output("relay-drop-in"))
        for (name, query) in [
            ("all", "?symbols=*&delivery=all"), ("latest", "?symbols=*&delivery=latest"),
            ("every-250ms", "?symbols=*&every=250ms"),
        ] {
            try self.makeRelay().admitStream(query, output: self.output("relay-stream-\(name)"))
        }
        try self.makeRelay().admitStream(
            "",
            requests: [BarWidth.second, .minute].map { width in
                String(buffer: StreamRequest.subscribeBars(self.plan.symbols, width).encoded())
            },
            output: self.output("relay-stream-bars")
        )
    }

    private func makeRelay() -> RelayHarness {
        let relay = RelayHarness(
            settings: RelaySettings(),
            symbols: self.plan.symbols,
            status: self.plan.status,
            epoch: self.plan.epoch,
            replay: HarnessReplay(self.plan.position),
            loop: self.loop,
            wallClock: self.wallClock
        )
        self.relays.append(relay)
        self.readers.append(relay.reader)
        return relay
    }

    // MARK: End

    /// Ends all outputs as at the end of a replay, and returns their digests, sorted by name.
    package func finish() -> [HarnessOutput] {
        for display in self.displays { display.showHeldBack() }
        self.loop.run()
        for lines in self.lines { lines.stop() }
        for screen in self.screens { screen.stop() }
        if let relay = self.relays.first {
            for symbol in self.plan.symbols.sorted() {
                for width in BarWidth.allCases {
                    if let bars = relay.bars(of: symbol, width) { self.bars.take(bars) }
                }
            }
        }
        for relay in self.relays { relay.stop() }
        self.recorder?.stop()
        return self.outputs.map { $0.finish() }.sorted { $0.name < $1.name }
    }
}

/// A list of the tape's trades, one a line: number, symbol, price, size, the exchange's time in ns since 1970, and the id
/// if it has one.
private final class TradeList: TapeReader {
    private let output: NIOLoopBound<OutputDigest>

    init(_ output: NIOLoopBound<OutputDigest>) { self.output = output }

    func read(_ batch: TapeBatch) {
        for (index, trade) in batch.trades.enumerated() {
            let name = batch.symbols.name(of: trade.symbol)
            let id = trade.id.map { " \($0)" } ?? ""
            self.output.value.take(
                "\(batch.firstSequence + UInt64(index)) \(name) \(trade.price) \(trade.size) \(trade.exchangeTime)\(id)\n"
            )
        }
    }

    func statusChanged(_ status: FeedStatus) {}
    func gapFound(_ gap: Gap) {}
}
