import NIOConcurrencyHelpers
import Platform

/// A measured path through the program.
package enum LatencyPath: String, Sendable, CaseIterable {
    /// From the exchange's time of a read's last trade to the read. It depends on two clocks and on the exchange's
    /// precision (a millisecond), and is only as good as both.
    case exchangeToArrival = "exchange to arrival"
    /// From the read to the bytes on the terminal or in the pipe, for every price that was actually shown. It includes
    /// the debounce, because a person waits for that, too.
    case arrivalToScreen = "arrival to screen"
    /// From the read to the end of the flush that wrote it to the sockets of all clients of Finnhub's protocol: the
    /// last client's latency.
    case arrivalToClient = "arrival to client"
    /// The same for the debounced prices of `/v1/stream`, including the debounce.
    case arrivalToStream = "arrival to stream"

    /// The name in metrics and JSON.
    package var name: String { String(self.rawValue.map { $0 == " " ? "_" : $0 }) }
}

/// Whether the exchange's times can be compared with this machine's clock.
package enum ExchangeClocks: Sendable, Equatable {
    /// They can: the trades come live from the market.
    case compared
    /// They cannot: they are a recording's, from another time.
    case recorded
    /// They cannot: another program's relay received the trades, and only it knows when.
    case relayed
}

/// The latencies of one program, and the offset of its clock.
package final class LatencyBook: Sendable {
    private let histograms: [LatencyHistogram]
    private let clock = NIOLockedValueBox(ClockCheck())
    /// The audit of Finnhub's trades, if there is one.
    private let audit = NIOLockedValueBox<TapeAudit?>(nil)
    package let clocks: ExchangeClocks

    /// The limit of a difference of clocks, ns (36 years).
    private static let absurd: Int64 = 1 << 60

    package init(clocks: ExchangeClocks) {
        self.clocks = clocks
        self.histograms = LatencyPath.allCases.map { _ in LatencyHistogram() }
    }

    /// Makes the report include an audit of Finnhub's trades, whose delays are latencies, too.
    package func follow(_ audit: TapeAudit) { self.audit.withLockedValue { $0 = audit } }

    package subscript(path: LatencyPath) -> LatencyHistogram {
        switch path {
        case .exchangeToArrival: self.histograms[0]
        case .arrivalToScreen: self.histograms[1]
        case .arrivalToClient: self.histograms[2]
        case .arrivalToStream: self.histograms[3]
        }
    }

    /// Counts a read of the market; returns a warning if the clocks cannot both be right.
    ///
    /// - Parameters:
    ///   - exchangeTime: the time of the read's last trade that is not ahead, ns since 1970.
    ///   - received: our wall clock at the read, ns since 1970.
    ///   - clockOffset: how far our clock is behind according to the feed's reads, ns.
    ///   - now: monotonic ns.
    func arrived(exchangeTime: Int64, received: Int64, clockOffset: Int64 = 0, now: Int64) -> ClockCheck.Warning? {
        guard self.clocks == .compared else { return nil }
        // The exchange's time is untrusted input and may be any number.
        let (difference, overflow) = received.subtractingReportingOverflow(exchangeTime)
        let implied = overflow ? (exchangeTime < 0 ? Self.absurd : -Self.absurd) : difference.clamped(to: Self.absurd)
        let (offset, warning) = self.clock.withLockedValue { clock in
            let warning = clock.took(implied, agreed: min(clockOffset, Self.absurd), now: now)
            return (clock.offset, warning)
        }
        self[.exchangeToArrival].record(nanoseconds: implied + offset)
        return warning
    }

    package var report: LatencyReport {
        var report = LatencyReport(
            rows: LatencyPath.allCases.compactMap { path in
                self[path].summary.map { LatencyReport.Row(path: path, summary: $0) }
            },
            clockOffset: self.clock.withLockedValue { $0.offset },
            clocks: self.clocks
        )
        report.audit = self.auditReport
        return report
    }

    /// The findings of the audit so far; `nil` without one.
    package var auditReport: AuditReport? {
        self.audit.withLockedValue { $0 }?.report(now: SystemClock.monotonic())
    }
}

extension Int64 {
    fileprivate func clamped(to limit: Int64) -> Int64 { Swift.min(Swift.max(self, -limit), limit) }
}

/// A snapshot of the figures of a ``LatencyBook``.
package struct LatencyReport: Sendable, Equatable {
    package struct Row: Sendable, Equatable {
        package var path: LatencyPath
        package var summary: LatencyHistogram.Summary

        package init(path: LatencyPath, summary: LatencyHistogram.Summary) {
            self.path = path
            self.summary = summary
        }
    }

    /// The paths with at least one measurement.
    package var rows: [Row]
    /// The least time by which this machine's clock is behind the exchange's, ns; 0 while no read contradicts it.
    package var clockOffset: Int64
    package var clocks: ExchangeClocks
    /// The audit of Finnhub's trades; `nil` without one.
    package var audit: AuditReport?

    package init(rows: [Row], clockOffset: Int64 = 0, clocks: ExchangeClocks = .compared) {
        self.rows = rows
        self.clockOffset = clockOffset
        self.clocks = clocks
    }

    /// The text `latency ms p50/p99/max: exchange to arrival 84/210/900, …`; `nil` if nothing was measured.
    package var line: String? {
        guard !self.rows.isEmpty else { return nil }
        let parts = self.rows.map { row in
            let figures = [row.summary.median, row.summary.percentile99, row.summary.maximum].map(Self.milliseconds)
            return "\(row.path.rawValue) \(figures.joined(separator: "/"))"
        }
        var line = "latency ms p50/p99/max: \(parts.joined(separator: ", "))"
        if self.clocks == .recorded {
            line += " (a replay's trades have recorded times, so exchange to arrival is left out)"
        }
        if self.clockOffset > 0 {
            line +=
                " (this machine's clock is at least \(Self.milliseconds(self.clockOffset)) ms behind the exchange's)"
        }
        return line
    }

    /// Formats milliseconds with about two digits: `0.04`, `3.1`, `84`.
    package static func milliseconds(_ nanoseconds: Int64) -> String {
        let hundredths = (max(nanoseconds, 0) + 5_000) / 10_000
        if hundredths < 100 {
            let digits = hundredths < 10 ? "0\(hundredths)" : "\(hundredths)"
            return hundredths == 0 ? "0" : "0.\(digits)"
        }
        if hundredths < 1_000 {
            let tenths = (hundredths + 5) / 10
            return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        }
        return "\((hundredths + 50) / 100)"
    }
}
