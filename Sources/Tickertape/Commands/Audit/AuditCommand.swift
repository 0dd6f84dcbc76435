import ArgumentParser
import Market
import Measurements
import NIOCore
import Recordings
import Wire

/// The command that compares a recording of Finnhub's trades with one of their venue's.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Compare a recording of Finnhub's trades with one of the exchange's own.",
        discussion: """
            The exchange's trades have ids, so they are the truth: the command counts which of them Finnhub sent, which \
            are missing, and which came twice. Trades are the same if they have the same time in milliseconds, price and \
            size; equal ones are told apart by their order. The recordings may be given in any order, compressed (.zst) \
            or not, in the plain form too; the files in which they go on are read, too. Delays are measured if both \
            recordings have a wall clock, which must be that of one machine. Exit status 0 if no trade is missing, else 1.

            EXAMPLES:
              tickertape audit finnhub.jsonl binance.jsonl
              tickertape audit --json finnhub.jsonl binance.jsonl
            """
    )

    @Argument(help: ArgumentHelp("A recording of Finnhub's messages.", valueName: "finnhub-file"), completion: .file())
    var finnhub: String

    @Argument(
        help: ArgumentHelp("A recording of the exchange's messages.", valueName: "venue-file"),
        completion: .file()
    )
    var venue: String

    @Flag(help: "Print one JSON object.")
    var json = false

    mutating func run() async throws {
        var (finnhub, venue) = (self.finnhub, self.venue)
        if try Self.areSwapped(finnhub, venue) { swap(&finnhub, &venue) }
        let report: AuditReport
        do throws(RecordingFailure) {
            report = try RecordingAudit(finnhub: finnhub, venue: venue).run()
        } catch {
            throw OperatorError(error)
        }
        if self.json {
            let object = JSONWriter.object { out in
                out.field("finnhub", finnhub)
                out.field("venue", venue)
                out.field("measuresDelays", report.measuresDelays)
                report.write(to: &out)
            }
            Console.print(json: String(buffer: object))
        } else {
            Console.print("\(finnhub) against \(venue): \(report.isComplete ? "complete" : "INCOMPLETE")")
            for symbol in report.symbols {
                for (place, line) in symbol.lines.enumerated() { Console.print((place == 0 ? "  " : "    ") + line) }
            }
            if !report.measuresDelays { Console.print("  no delays: not both recordings have a wall clock") }
        }
        if let failure = Self.failure(of: report) { throw OperatorError(failure, status: .failure) }
    }

    /// Finds which of two recordings is Finnhub's; returns whether it is the second.
    private static func areSwapped(_ one: String, _ other: String) throws(OperatorError) -> Bool {
        do throws(RecordingFailure) {
            let (first, second) = (try AuditSource.sides(of: one), try AuditSource.sides(of: other))
            if first.contains(.finnhub), second.contains(.venue) { return false }
            if first.contains(.venue), second.contains(.finnhub) { return true }
        } catch {
            throw OperatorError(error)
        }
        let venues = Venue.allCases.map(\.name).joined(separator: ", ")
        throw OperatorError(
            "one recording must have trades in Finnhub's messages, the other in those of an exchange (\(venues)); record "
                + "one with `tickertape record --from finnhub`, the other with `--from venue`",
            status: .usage
        )
    }

    private static func failure(of report: AuditReport) -> String? {
        if report.isComplete { return nil }
        let missing = report.symbols.reduce(0) { $0 + $1.missing + $1.missingInGaps }
        if missing > 0 {
            return "\(SystemErrorText.count(missing, "trade is", "trades are")) missing in Finnhub's recording"
        }
        return "nothing was compared: the recordings have no symbol in common, or no time in which both were recorded"
    }
}
