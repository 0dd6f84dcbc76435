import Glibc
import Ingest
import Logging
import Market
import Measurements
import NIOCore
import ServiceLifecycle
import Terminal
import UnixSignals
import Wire

/// The display of a program: the screen or lines, their inputs, and a logger that does not disturb the screen.
struct DisplayService: Sendable {
    let display: PriceDisplay
    let isScreen: Bool
    /// Logs to standard error, unless that is the terminal with the screen.
    let logger: Logger
    private let output: any ThreadedOutput

    /// Makes the display that the settings select; `nil` with `--quiet`.
    ///
    /// - Parameters:
    ///   - prices: the debounced prices of the loop, shared with its other readers; `nil` if the display is the only
    ///     reader.
    ///   - seesAllTrades: whether the display gets all trades of the feed, and not only a relay's subscriptions.
    /// - Throws: ``OperatorError`` when settings contradict each other, or the terminal cannot be used.
    init?(
        settings: Settings,
        loop: any EventLoop,
        symbols: [String],
        prices: SettledPrices? = nil,
        status: FeedStatus,
        relay: (@Sendable () -> DisplayRelay?)?,
        clients: (@Sendable () -> Int)?,
        recording: (@Sendable () -> DisplayRecording?)? = nil,
        cluster: (@Sendable () -> ClusterState?)? = nil,
        latency: LatencyBook,
        completeness: CompletenessMeter? = nil,
        seesAllTrades: Bool = true,
        replay: (@Sendable () -> ReplayPosition?)? = nil
    ) throws {
        guard let format = Self.format(settings) else { return nil }
        let clock = settings.screenClock
        try settings.refuseFields(of: format)
        let isOnce = settings.display.isOnce
        var limits = settings.finnhub.watch.freshness
        limits.seesAllTrades = seesAllTrades
        do {
            switch format {
            case .tui:
                try settings.refuseAmbiguousNumbers()
                var look = DisplaySettings(settings.screen, environment: ProcessEnvironment.current.variable)
                look.groups = settings.namedGroups
                look.look.clock = clock
                look.look.notes = settings.namedNotes
                self.output = try TerminalDisplay(
                    settings: look,
                    bindings: settings.keys,
                    latency: latency,
                    completeness: completeness
                )
            case .plain, .json, .csv, .oneline, .waybar, .i3blocks:
                var lines = LinePrinter.Settings(format: format)
                lines.fields = settings.display.fields
                lines.symbols = symbols
                lines.limits = limits
                lines.rotation = settings.display.rotation?.nanoseconds
                lines.look = settings.screen
                // Reading from a terminal would stop a program in the background.
                lines.clicks = format == .i3blocks && isatty(STDIN_FILENO) == 0 ? STDIN_FILENO : nil
                lines.holdings = settings.namedHoldings
                lines.once = isOnce ? FreshPriceWait.Settings(settings, symbols: symbols) : nil
                let errors = NoticeOutput(isTerminal: isatty(STDERR_FILENO) == 1, write: Console.printNotice)
                self.output = try LinePrinter(lines, status: status, errors: errors, latency: latency)
            }
        } catch let error as OperatorError {
            throw error
        } catch {
            throw OperatorError("cannot use the terminal: \(error); --format plain needs none", status: .failure)
        }
        self.isScreen = format == .tui
        self.logger = ProgramLog(settings, format: format).logger(.feed)
        self.display = PriceDisplay(
            output: self.output,
            loop: loop,
            symbols: symbols,
            prices: prices ?? SettledPrices(settings: settings.relay.pipeline, loop: loop),
            status: status,
            relay: relay,
            clients: clients,
            recording: recording,
            cluster: cluster,
            limits: limits,
            replay: replay,
            holdings: settings.namedHoldings,
            clock: clock
        )
    }

    /// Returns the format in force; `nil` for no output. A requested screen needs a terminal.
    static func format(
        _ settings: Settings,
        outputIsTerminal: Bool = isatty(STDOUT_FILENO) == 1,
        term: String? = getenv("TERM").map { String(cString: $0) }
    ) -> OutputFormat? {
        guard !settings.display.isQuiet else { return nil }
        return OutputFormat.inForce(
            asked: settings.display.format,
            // `--once` ends at once, so it gets no screen.
            outputIsTerminal: outputIsTerminal && !settings.display.isOnce,
            term: term
        )
    }

    /// Returns the service of the display, which ends when the user quits, when the pipe is closed, or at a stop.
    ///
    /// - Parameter remote: executes the commands of the screen's keys.
    func part(_ remote: DisplayRemote) -> NamedService {
        let display = self.display
        let output = self.output
        (output as? TerminalDisplay)?.connect(remote)
        return NamedService("display") {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    switch await output.run() {
                    case .stopped, .quitKey, .closed: return true
                    case .failed(let reason):
                        throw OperatorError("cannot write the lines: \(reason)", status: .failure)
                    case .missed(let report): throw OperatorError(report, status: .noFreshPrice)
                    }
                }
                if let printer = output as? LinePrinter, printer.settings.format.isOneLine {
                    group.addTask {
                        let signals = await UnixSignalsSequence(trapping: .sigusr1, .sigusr2)
                        for await signal in signals { printer.go(signal == .sigusr1 ? .next : .previous) }
                        return false
                    }
                }
                group.addTask {
                    do { try await gracefulShutdown() } catch { return false }
                    await display.finish()
                    output.stop()
                    return false
                }
                while let hasEnded = try await group.next() {
                    if hasEnded { group.cancelAll() }
                }
            }
        }
    }
}

extension FreshPriceWait.Settings {
    /// - Parameter symbols: the symbols to print; empty means all that the feed reports.
    init(_ settings: Settings, symbols: [String]) {
        self.init(
            within: settings.display.onceWithin.nanoseconds,
            freshFor: settings.finnhub.watch.freshness.staleAfter,
            symbols: symbols.isEmpty ? nil : symbols
        )
    }
}

extension Settings {
    /// Whether the user has set a log level.
    var isVerbose: Bool {
        self.display.isQuiet || self.origin(of: .logLevel) != .builtIn || !self.log.levels.isEmpty
    }

    /// The clock of the screen.
    var screenClock: ScreenClock { self.screen.timeZone.clock(local: LocalTime.offset) }

    /// These settings without the relay if the program only prints one price of each symbol.
    var withoutNeedlessRelay: Settings {
        guard self.display.isOnce else { return self }
        var settings = self
        settings.relay.listen = nil
        settings.relay.unixSocket = nil
        settings.relay.lines = nil
        return settings
    }
}
