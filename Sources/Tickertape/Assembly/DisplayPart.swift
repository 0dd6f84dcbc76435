import Glibc
import Logging
import Market
import NIOCore
import ServiceLifecycle
import Sinks

/// The display of a program: the screen or lines, what feeds it, and the log that does not disturb it.
struct DisplayPart {
    let display: PriceDisplay
    let isScreen: Bool
    /// Goes to standard error, unless that is the terminal that the screen is drawn on.
    let logger: Logger
    private let output: PriceDisplay.Output

    /// Makes the display that the settings ask for, or none with `--quiet`.
    ///
    /// - Parameter seesAllTrades: whether it gets all that the feed brings, and not what a relay was asked for.
    /// - Throws: ``OperatorError`` when there is no terminal for a screen that was asked for.
    init?(
        settings: Settings,
        loop: any EventLoop,
        symbols: [String],
        status: FeedStatus,
        relay: String?,
        clients: (@Sendable () -> Int)?,
        latency: LatencyBook,
        seesAllTrades: Bool = true
    ) throws {
        guard !settings.display.isQuiet else { return nil }
        let environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
        let format = OutputFormat.inForce(
            asked: settings.display.outputFormat,
            outputIsTerminal: isatty(STDOUT_FILENO) == 1,
            term: environment("TERM")
        )
        do {
            switch format {
            case .tui:
                let look = try DisplaySettings(settings.display, environment: environment)
                self.output = .screen(try TerminalDisplay(settings: look, latency: latency))
            case .plain, .json:
                self.output = .lines(try LinePrinter(isJSON: format == .json, status: status, latency: latency))
            }
        } catch let error as OperatorError {
            throw error
        } catch {
            throw OperatorError("cannot use the terminal: \(error); --format plain needs none", status: .failure)
        }
        self.isScreen = format == .tui
        // A display tells every state itself; the log is for who asks for it, and never into the picture.
        let mayLog = settings.isVerbose && !(self.isScreen && isatty(STDERR_FILENO) == 1)
        self.logger = mayLog ? ProgramLog.make(level: settings.logLevel) : ProgramLog.silent
        self.display = PriceDisplay(
            output: self.output,
            loop: loop,
            symbols: symbols,
            pipeline: PricePipeline.Settings(settings.pipeline),
            status: status,
            relay: relay,
            clients: clients,
            limits: FreshnessLimits(settings, seesAllTrades: seesAllTrades)
        )
    }

    /// Runs until a person quits, nobody reads the lines any more, or the program stops.
    var part: ProgramPart {
        let display = self.display
        let output = self.output
        return ProgramPart("display") {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    switch output {
                    case .screen(let screen): _ = await screen.run()
                    case .lines(let printer):
                        if case .failed(let reason) = await printer.run() {
                            throw OperatorError("cannot write the lines: \(reason)", status: .failure)
                        }
                    }
                    return true
                }
                group.addTask {
                    do { try await gracefulShutdown() } catch { return false }
                    await display.finish()
                    switch output {
                    case .screen(let screen): screen.stop()
                    case .lines(let printer): printer.stop()
                    }
                    return false
                }
                while let hasEnded = try await group.next() {
                    if hasEnded { group.cancelAll() }
                }
            }
        }
    }
}
