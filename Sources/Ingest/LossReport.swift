import Logging
import Market

/// What could not be used of what the service sent, told in the log once a minute at most: a machine.
package struct LossReport: Sendable, Equatable {
    package struct Counts: Sendable, Equatable {
        package var malformedFrames = 0
        package var malformedElements = 0
        /// Whole trades of more symbols than there are numbers for.
        package var unnumberedTrades = 0
        /// Whole frames that were left out, as they came again.
        package var leftOutFrames = 0

        package init() {}
    }

    /// Between two reports, ns.
    package static let interval: Int64 = 60_000_000_000

    /// What was told last.
    package private(set) var reported = Counts()
    private var reportedAt: Int64?

    package init() {}

    /// When there will be something to tell; monotonic ns.
    package func deadline(_ counts: Counts) -> Int64? {
        counts == self.reported ? nil : (self.reportedAt.map { $0 + Self.interval } ?? .min)
    }

    /// Answers with what is to be told now: what is new since the last time.
    package mutating func take(_ counts: Counts, now: Int64) -> Counts? {
        guard let deadline = self.deadline(counts), now >= deadline else { return nil }
        return self.takeAll(counts, now: now)
    }

    /// Answers with what has not been told, whenever the last time was: at a connection's end.
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
    /// Logs what is not 0.
    func log(to logger: Logger) {
        if self.malformedElements + self.malformedFrames > 0 {
            logger.warning(
                "Some of what the service sent could not be read",
                metadata: ["elements": "\(self.malformedElements)", "frames": "\(self.malformedFrames)"]
            )
        }
        if self.unnumberedTrades > 0 {
            logger.warning(
                "Trades of too many symbols were left out",
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
