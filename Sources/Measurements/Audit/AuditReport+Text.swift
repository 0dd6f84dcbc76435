import Market
import Wire

extension AuditedSymbol {
    /// The findings in a few lines for people, the first with the symbol's name.
    package var lines: [String] {
        let name = SymbolName.word(self.symbol)
        guard let share = self.shareText, let span else {
            let comparison = self.waiting > 0 ? "nothing to compare yet" : "nothing to compare"
            return ["\(name): \(comparison): trades of one side only: \(self.unproven &+ self.waiting)"]
        }
        let (from, to) = (Self.timestamp(span.lowerBound), Self.timestamp(span.upperBound))
        var lines = [
            "\(name): \(share) delivered, \(self.delivered) of \(self.trades) trades, from \(from) to \(to)"
        ]
        if self.missing > 0 { lines.append("missing: \(self.missing), ids \(self.idsText)") }
        if self.gaps > 0 {
            lines.append("in Finnhub's own gaps: \(self.missingInGaps) more missing, gaps: \(self.gaps)")
        }
        if self.repeated > 0 { lines.append("repeated by Finnhub: \(self.repeated)") }
        if self.unknown > 0 { lines.append("unknown to the venue: \(self.unknown)") }
        if self.late > 0 { lines.append("later than \(AuditLimits().wait / 60_000_000_000) minutes: \(self.late)") }
        if self.reordered > 0 { lines.append("behind a later trade: \(self.reordered)") }
        if self.unproven > 0 { lines.append("not judged, because one side was not there: \(self.unproven)") }
        if self.waiting > 0 { lines.append("not judged yet: \(self.waiting)") }
        if let delay {
            let figures = [delay.median, delay.percentile99, delay.maximum].map(LatencyReport.milliseconds)
            lines.append("delay after the venue, ms p50/p99/max: \(figures.joined(separator: "/"))")
        }
        return lines
    }

    /// The findings in one line without the symbol's name, such as `99.942 %, 12 missing, delay 84/210 ms`; `nil` before
    /// anything was compared.
    package var shortText: String? {
        guard let share = self.shareText else { return nil }
        var parts = ["\(share) of \(self.trades)"]
        if self.missing > 0 { parts.append("\(self.missing) missing") }
        if self.missingInGaps > 0 { parts.append("\(self.missingInGaps) in gaps") }
        if self.repeated > 0 { parts.append("\(self.repeated) repeated") }
        if self.unknown > 0 { parts.append("\(self.unknown) unknown") }
        if let delay {
            let figures = [delay.median, delay.percentile99].map(LatencyReport.milliseconds)
            parts.append("delay \(figures.joined(separator: "/")) ms")
        }
        return parts.joined(separator: ", ")
    }

    private var idsText: String {
        // The newest ones.
        let ranges = self.missingIDs.suffix(10).map(TradeID.text)
        let others = self.missingIDs.count > 10 || self.unlistedIDs > 0
        return ranges.joined(separator: ", ") + (others ? " and earlier ones" : "")
    }

    private static func timestamp(_ milliseconds: Int64) -> String {
        UTCText.timestamp(max(0, min(milliseconds, .max / 1_000_000)) * 1_000_000)
    }
}
