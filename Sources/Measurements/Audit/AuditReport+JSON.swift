import NIOCore
package import Wire

extension AuditReport {
    /// Writes the findings as the members `complete` and `symbols` of an object.
    package func write(to out: inout JSONWriter) {
        out.field("complete", self.isComplete)
        if let trouble { out.field("trouble", trouble) }
        out.array("symbols") { out in for symbol in self.symbols { out.element { symbol.write(to: &$0) } } }
    }
}

extension AuditedSymbol {
    fileprivate func write(to out: inout JSONWriter) {
        out.field("symbol", self.symbol)
        out.field("from", self.span?.lowerBound)
        out.field("to", self.span?.upperBound)
        out.field("trades", self.trades)
        out.field("delivered", self.delivered)
        out.field("percent", json: ByteBuffer(string: self.share.map(Self.percent) ?? "null"))
        out.field("missing", self.missing)
        out.array("missingIDs") { out in for ids in self.missingIDs { out.element { $0.ids(ids) } } }
        out.field("unlistedIDs", self.unlistedIDs)
        out.field("gaps", self.gaps)
        out.field("missingInGaps", self.missingInGaps)
        out.field("repeated", self.repeated)
        out.field("unknown", self.unknown)
        out.field("late", self.late)
        out.field("reordered", self.reordered)
        out.field("unproven", self.unproven)
        out.field("waiting", self.waiting)
        if let delay {
            out.object("delay") { out in
                out.field("count", delay.count)
                out.field("p50", milliseconds: delay.median)
                out.field("p99", milliseconds: delay.percentile99)
                out.field("max", milliseconds: delay.maximum)
            }
        }
    }
}
