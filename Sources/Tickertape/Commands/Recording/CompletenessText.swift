import Market
import Recordings

/// The completeness of a recording as text.
enum CompletenessText {
    static func lines(_ found: CompletenessCheck.Findings) -> [String] {
        guard !found.hours.isEmpty || found.reported > 0 else { return [] }
        var lines = ["  trades by their ids, of each symbol and hour:"]
        lines += found.hours.map { "    \(Self.line($0))" }
        if found.reported > 0 {
            let uncompared =
                found.uncompared > 0
                ? "; \(SystemErrorText.count(found.uncompared, "hour")) not compared, since the file before is not given"
                : ""
            lines.append(
                found.differences.isEmpty
                    ? "  the recorder's \(SystemErrorText.count(found.reported, "line")) about that agree\(uncompared)"
                    : "  the recorder's lines about that differ\(uncompared)"
            )
        }
        return lines + found.differences.map { "    \($0)" }
    }

    /// One hour, such as
    /// `BINANCE:BTCUSDT 2026-11-21T05:00:00Z: ids 1 to 9, 9 trades, 0 missing, 0 repeated, 0 filled, sha256 …`.
    static func line(_ hour: CompletenessHour) -> String {
        let ids = if let first = hour.first, let last = hour.last { "ids \(first) to \(last), " } else { "" }
        let hash = hour.sha256.map { "sha256 \($0)" } ?? "no hash: \(hour.reason ?? "")"
        let kind = hour.isComplete ? ", complete" : ""
        return
            "\(SymbolName.word(hour.symbol)) \(UTCText.secondStamp(hour.start)): \(ids)"
            + "\(SystemErrorText.count(hour.count, "trade")), \(hour.missing) missing, \(hour.repeated) repeated, "
            + "\(hour.filled) filled\(kind), \(hash)"
    }
}
