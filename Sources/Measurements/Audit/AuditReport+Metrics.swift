extension AuditReport {
    /// Writes the findings as gauges: a judgement may be taken back.
    package func write(to out: inout PrometheusText) {
        let symbols = self.symbols.prefix(MetricRegistry.maximumSeries)
        let trades = "tickertape_audit_trades"
        out.family(trades, .gauge, "Trades of Finnhub's and of its venues as finnhub.audit has judged them.")
        for symbol in symbols {
            for (outcome, count) in symbol.outcomes {
                out.sample(trades, [("symbol", symbol.symbol), ("outcome", outcome)], Double(count))
            }
        }
        let delay = "tickertape_audit_delay_seconds"
        out.family(delay, .gauge, "How long after the venue's trades Finnhub's arrived, by quantile.")
        for symbol in symbols {
            guard let summary = symbol.delay else { continue }
            out.sample(delay, [("symbol", symbol.symbol), ("quantile", "0.5")], Double(summary.median) / 1e9)
            out.sample(delay, [("symbol", symbol.symbol), ("quantile", "0.99")], Double(summary.percentile99) / 1e9)
        }
    }
}

extension AuditedSymbol {
    fileprivate var outcomes: [(String, Int)] {
        [
            ("delivered", self.delivered), ("missing", self.missing), ("missing_in_gap", self.missingInGaps),
            ("repeated", self.repeated), ("unknown", self.unknown), ("late", self.late),
            ("reordered", self.reordered), ("unproven", self.unproven), ("waiting", self.waiting),
        ]
    }
}
