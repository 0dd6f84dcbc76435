import Market
import Wire

/// The message about a part of the selection that matches no trade.
///
/// A mistyped symbol or a wrong day selects nothing, and the message says which of them it was.
enum ExportMissing {
    /// Returns one line that names the symbols without a trade, or says that the time has no trade, and what the
    /// recordings have instead; `nil` if nothing is missing.
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
