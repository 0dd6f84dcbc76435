import ArgumentParser
import Glibc
import Market
import Recordings
import Wire

/// The command that turns recordings into tables.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the trades or bars of recordings as CSV or JSON lines.",
        discussion: """
            Prices and sizes are exact. `time` and `start` are the exchange's clock in milliseconds since 1970, `received` is \
            this machine's in microseconds. Bars that a gap touches are marked incomplete; a span without a trade has no \
            bar. Files are read in the order in which they are given, each with those in which it goes on, and for bars in the order \
            of their times; `--from` and `--to` are as for `replay --from`, in the first that is given.

            EXAMPLES:
              tickertape export btc.jsonl --csv > trades.csv
              tickertape export day1.jsonl day2.jsonl --jsonl --bars 1m --symbol BINANCE:BTCUSDT
              tickertape export btc.jsonl --csv --from 2026-11-21T05:00:00Z --to 2026-11-21T06:00:00Z --output hour.csv
            """
    )

    @Argument(help: ArgumentHelp("The recordings.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Write CSV, with a line of names.")
    var csv = false

    @Flag(help: "Write one JSON object a line.")
    var jsonl = false

    @Flag(help: .hidden)
    var parquet = false

    @Option(help: ArgumentHelp("Bars of this width instead of trades: \(BarWidth.words).", valueName: "width"))
    var bars: String?

    @Option(
        help: ArgumentHelp("Only what happened at this time and later: \(RecordingTime.forms).", valueName: "time"),
        transform: RecordingTime.read
    )
    var from: RecordingTime?

    @Option(
        help: ArgumentHelp("Only what happened before this time.", valueName: "time"),
        transform: RecordingTime.read
    )
    var to: RecordingTime?

    @Option(name: .customLong("symbol"), help: "Only this symbol; several may be given.")
    var symbols: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to this file, which must not exist, instead of standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    func validate() throws {
        if self.parquet {
            let quoted = "read_csv('trades.csv', types={'price': 'DECIMAL(38,12)', 'size': 'DECIMAL(38,12)'})"
            throw ValidationError(
                "Parquet is not written: there is no maintained library for it in Swift. Export --csv, and let DuckDB do "
                    + "it: duckdb -c \"COPY (FROM \(quoted)) TO 'trades.parquet'\""
            )
        }
        guard self.csv != self.jsonl else { throw ValidationError("Say --csv or --jsonl, one of them.") }
        if let bars, BarWidth(word: bars) == nil {
            throw ValidationError("--bars \(bars): the widths are \(BarWidth.words).")
        }
    }

    mutating func run() async throws {
        if self.output != nil { SignalHandling.removeUnfinishedFile() }
        // The write to a closed pipe then fails, and the export ends in order.
        signal(SIGPIPE, SIG_IGN)
        var order = try self.order()
        let plan = try ExportPlan(self.files, byTime: order.bars != nil)
        if plan.overlaps { order.openBars = ExportPlan.openBars }
        var export = RecordingExport(order)
        let output = try ExportOutput(path: self.output)
        var damagedParts = 0
        for file in plan.files {
            export.beginFile()
            let source = try ExportSource(path: file)
            if !source.followers.isEmpty {
                Console.printError(SystemErrorText.continuation(of: file, in: source.followers))
            }
            while let (line, loss) = try source.next() {
                if let loss { export.lost(lines: loss.lines, from: loss.from, to: loss.to) }
                export.take(line)
                // A closed pipe ends the export, as it ends any filter.
                if export.waitingBytes >= ExportOutput.chunkBytes, try !output.write(export.takeText()) { return }
            }
            export.found(lines: source.returnedLines)
            damagedParts += source.damagedParts
            if !source.hasFrames {
                let text = "\(file) holds no recorded frame"
                guard source.hasHeader else {
                    throw OperatorError("\(text) (one JSON object a line, with \"at\" and \"frame\")", status: .failure)
                }
                Console.printError("warning: \(text)")
            }
        }
        export.finish()
        guard try output.write(export.takeText()) else { return }
        let report = export.report
        let missing = ExportMissing.words(report, order)
        if report.trades > 0 {
            try output.close()
            if let missing { Console.printError("warning: \(missing)") }
        }
        for line in report.warnings(damagedParts: damagedParts) { Console.printError(line) }
        // After the warnings, since damage may be the cause.
        if report.trades == 0 { throw OperatorError(missing ?? "there is no trade in it", status: .failure) }
    }

    /// Returns the selection and the format of the export.
    private func order() throws(OperatorError) -> RecordingExport.Order {
        var order = RecordingExport.Order(
            format: self.csv ? .csv : .jsonLines,
            bars: self.bars.flatMap { BarWidth(word: $0) }
        )
        order.symbols = Set(self.symbols)
        guard let file = self.files.first else { return order }
        do throws(RecordingFailure) {
            order.from = try self.from?.wall(in: file)
            order.to = try self.to?.wall(in: file)
        } catch {
            throw OperatorError(error)
        }
        return order
    }
}
