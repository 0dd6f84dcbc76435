import Market
import Wire

/// What of an order the recordings do not have: a mistyped symbol and a wrong day give nothing, and nobody should have to guess
/// why.
enum ExportMissing {
    /// Of which symbols there is no trade, or that there is none of that time, in one line that says what there is; `nil` where
    /// nothing is missing.
    static func words(_ report: RecordingExport.Report, _ order: RecordingExport.Order) -> String? {
        guard let times = report.times else { return nil }
        let missing = order.symbols.subtracting(report.symbols)
        if !missing.isEmpty {
            return
                "no trade of \(RecordedSymbols.list(missing)) is recorded, only of \(RecordedSymbols.list(report.symbols))"
        }
        guard report.trades == 0 else { return nil }
        let (from, to) = (UTCText.timestamp(times.lowerBound), UTCText.timestamp(times.upperBound))
        return
            "no trade of that \(order.symbols.isEmpty ? "time" : "symbol and time") is recorded; there are trades from "
            + "\(from) to \(to)"
    }
}
