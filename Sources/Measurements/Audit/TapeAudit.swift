package import Market
import NIOConcurrencyHelpers
package import Wire

/// An audit that reads two tapes: the program's, with Finnhub's trades, and one with the trades of the venues.
///
/// Both tapes belong to one event loop; the report may be asked for from any thread.
package final class TapeAudit: Sendable {
    private let machine: NIOLockedValueBox<AuditMachine>
    /// The newest status of the venues' tape.
    private let status = NIOLockedValueBox<FeedStatus?>(nil)

    package init(_ machine: AuditMachine = AuditMachine()) { self.machine = NIOLockedValueBox(machine) }

    /// Returns the reader of one side's tape.
    package func reader(_ side: AuditSide) -> any TapeReader { Reader(self, side) }

    /// Notes that one side's trades may be missing from its newest one on.
    package func interrupted(_ side: AuditSide, _ kind: AuditInterruption, symbol: String? = nil) {
        self.machine.withLockedValue { $0.interrupted(side, kind, symbol: symbol) }
    }

    /// Judges all trades, because both tapes are over.
    package func finish() { self.machine.withLockedValue { $0.finish() } }

    /// Removes and returns Finnhub's gaps of which it is known by now which trades are missing.
    ///
    /// - Parameter now: the clock of the arrivals, ns.
    package func takeIdentifiedGaps(now: Int64) -> [IdentifiedGap] {
        self.machine.withLockedValue { $0.takeIdentifiedGaps(now: now) }
    }

    /// Returns the findings so far.
    ///
    /// - Parameter now: the clock of the arrivals, ns; `nil` judges nothing further.
    package func report(now: Int64?) -> AuditReport {
        var report = self.machine.withLockedValue { machine in
            if let now { machine.timePassed(now: now) }
            return machine.report
        }
        if let status = self.status.withLockedValue({ $0 }), status.phase != .live, let reason = status.reason {
            report.trouble = "\(status.word): \(reason)"
        }
        return report
    }

    private final class Reader: TapeReader {
        private let audit: TapeAudit
        private let side: AuditSide

        init(_ audit: TapeAudit, _ side: AuditSide) {
            self.audit = audit
            self.side = side
        }

        func read(_ batch: TapeBatch) {
            guard !batch.trades.isEmpty else { return }
            self.audit.machine.withLockedValue { $0.take(batch, from: self.side) }
        }

        func statusChanged(_ status: FeedStatus) {
            if self.side == .venue { self.audit.status.withLockedValue { $0 = status } }
        }

        func symbolUnsubscribed(_ symbol: String) { self.audit.interrupted(self.side, .absence, symbol: symbol) }

        func gapFound(_ gap: Gap) {
            // A gap with ids is a venue's, and on the program's tape it is of a symbol that is not Finnhub's.
            guard self.side == .venue || gap.missing == nil else { return }
            self.audit.machine.withLockedValue { $0.interrupted(self.side, .gap, symbol: gap.symbol, gap: gap) }
        }

        func gapSettled(_ outcome: GapOutcome) {
            if self.side == .venue { self.audit.machine.withLockedValue { $0.venueSettled(outcome) } }
        }
    }
}
