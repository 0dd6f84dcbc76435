import HTTP
import Market
import Measurements
import NIOCore
import Wire

/// The body of `/v1/completeness`.
enum CompletenessAnswer {
    /// - Parameter symbol: the only symbol; `nil` for all.
    static func body(
        _ symbol: String?,
        _ meter: CompletenessMeter,
        _ reservation: AnswerMemory.Reservation
    ) throws -> ByteBuffer {
        if let symbol {
            guard SymbolName.isValid(symbol) else { throw HTTPRefusal.badQuery("symbol must be the name of a symbol") }
        }
        let hours = meter.hours(of: symbol)
        guard symbol == nil || !hours.isEmpty else { throw HTTPRefusal.noSuchSymbol(symbol ?? "") }
        try reservation.hold(items: hours.count)
        let totals = meter.totals.filter { symbol == nil || $0.symbol == symbol }
        return JSONWriter.line { out in
            out.array("symbols") { out in
                for (symbol, counts) in totals {
                    out.element { out in
                        out.field("symbol", symbol)
                        out.field("trades", counts.trades)
                        out.field("missing", counts.missing)
                        out.field("repeated", counts.repeated)
                        out.field("filled", counts.filled)
                    }
                }
            }
            out.array("hours") { out in
                for hour in hours { out.element { $0.fields(of: hour, start: hour.start / 1_000_000) } }
            }
        }
    }
}
