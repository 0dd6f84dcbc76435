import Logging
import Market

/// The log of a feed's gaps and losses.
struct FeedLog {
    private let logger: Logger
    private var report = LossReport()

    init(_ logger: Logger) { self.logger = logger }

    // MARK: Gaps

    /// Logs a gap.
    func gapFound(_ gap: Gap) {
        self.logger.warning(
            "The feed has a gap",
            metadata: [
                "reason": "\(gap.reason)", "milliseconds": "\(gap.length / 1_000_000)",
                "possibleRepeats": "\(gap.overlapBounds.map { "\($0.most)" } ?? "unknown")",
            ]
        )
    }

    /// Logs a gap of ids that are missing.
    func idsMissing(_ gap: Gap) {
        self.logger.warning(
            "The feed has a gap",
            metadata: ["reason": "\(gap.reason)", "symbol": "\(gap.symbol ?? "")"]
        )
    }

    // MARK: Losses

    /// The losses that are logged.
    var reported: LossReport.Counts { self.report.reported }

    /// When ``lost(_:now:)`` is due, monotonic ns.
    func deadline(_ losses: LossReport.Counts) -> Int64? { self.report.deadline(losses) }

    /// Logs the losses that are not logged yet, if a report is due.
    mutating func lost(_ losses: LossReport.Counts, now: Int64) {
        self.report.take(losses, now: now)?.log(to: self.logger)
    }

    /// Logs the losses that are not logged yet, without the pause between two reports.
    mutating func lostAll(_ losses: LossReport.Counts, now: Int64) {
        self.report.takeAll(losses, now: now)?.log(to: self.logger)
    }

    /// Logs that frames repeat too often for chance.
    func framesRepeat() {
        self.logger.warning(
            "The service sends its frames several times, and volumes count them each time",
            metadata: ["hint": "upstream.drop-repeats leaves them out"]
        )
    }
}
