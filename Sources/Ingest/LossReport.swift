import Logging
import Market

/// The losses of a feed, logged once a minute at most. A state machine.
package struct LossReport: Sendable, Equatable {
    package struct Counts: Sendable, Equatable {
        package var malformedFrames = 0
        package var malformedElements = 0
        /// Well-formed trades that were left out because the symbol table was full.
        package var unnumberedTrades = 0
        /// Repeated frames that were left out.
        package var leftOutFrames = 0

        package init() {}
    }

    /// The time between two reports, ns.
    package static let interval: Int64 = 60_000_000_000

    /// The counts at the last report.
    package private(set) var reported = Counts()
    private var reportedAt: Int64?

    package init() {}

    /// When the next report is due, monotonic ns; `nil` if the counts have not changed since the last one.
    package func deadline(_ counts: Counts) -> Int64? {
        counts == self.reported ? nil : (self.reportedAt.map { $0 + Self.interval } ?? .min)
    }

    /// Returns the increase of the counts since the last report, if a report is due.
    package mutating func take(_ counts: Counts, now: Int64) -> Counts? {
        guard let deadline = self.deadline(counts), now >= deadline else { return nil }
        return self.takeAll(counts, now: now)
    }

    /// Returns the increase of the counts since the last report, even if none is due: at a connection's end.
    package mutating func takeAll(_ counts: Counts, now: Int64) -> Counts? {
        guard counts != self.reported else { return nil }
        var news = Counts()
        news.malformedFrames = counts.malformedFrames - self.reported.malformedFrames
        news.malformedElements = counts.malformedElements - self.reported.malformedElements
        news.unnumberedTrades = counts.unnumberedTrades - self.reported.unnumberedTrades
        news.leftOutFrames = counts.leftOutFrames - self.reported.leftOutFrames
        self.reported = counts
        self.reportedAt = now
        return news
    }
}

extension LossReport.Counts {
    /// Logs the counts that are not 0.
    func log(to logger: Logger) {
        if self.malformedElements + self.malformedFrames > 0 {
            logger.warning(
                "Some of what the service sent could not be read",
                metadata: ["elements": "\(self.malformedElements)", "frames": "\(self.malformedFrames)"]
            )
        }
        if self.unnumberedTrades > 0 {
            logger.warning(
                "Trades were left out because the symbol table was full",
                metadata: ["trades": "\(self.unnumberedTrades)", "symbols": "\(SymbolTable.capacity)"]
            )
        }
        if self.leftOutFrames > 0 {
            logger.notice(
                "The service sent frames again; upstream.drop-repeats leaves them out",
                metadata: ["frames": "\(self.leftOutFrames)"]
            )
        }
    }
}
