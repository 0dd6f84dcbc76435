import HTTP
import Market
import NIOCore
import NIOHTTP1
import Wire

/// The answers of a venue's REST service to requests for the last 24 hours, in the venue's own form.
extension RestForm {
    /// - Parameter days: the symbols that were asked for, as the tape names them, and their figures; `nil` for a symbol
    ///   that exists and has no trades.
    func answer(_ days: [(symbol: String, day: PlayedDay?)]) -> HTTPAnswer {
        switch self.venue {
        case .binance:
            .json(.ok, JSONWriter.array { out in for one in days { out.element { out in Self.binance(one, &out) } } })
        case .coinbase: .json(.ok, JSONWriter.object { out in Self.coinbase(days.first?.day, &out) })
        case .kraken:
            .json(
                .ok,
                JSONWriter.object { out in
                    out.field("error", [String]())
                    out.object("result") { out in for one in days { Self.kraken(one, &out) } }
                }
            )
        }
    }

    private static func binance(_ one: (symbol: String, day: PlayedDay?), _ out: inout JSONWriter) {
        out.field("symbol", Venue.binance.native(of: one.symbol))
        Self.fields(
            of: one.day,
            open: "openPrice",
            high: "highPrice",
            low: "lowPrice",
            last: "lastPrice",
            &out
        )
        out.field("count", one.day?.count ?? 0)
    }

    private static func coinbase(_ day: PlayedDay?, _ out: inout JSONWriter) {
        Self.fields(of: day, open: "open", high: "high", low: "low", last: "last", &out)
    }

    private static func fields(
        of day: PlayedDay?,
        open: StaticString,
        high: StaticString,
        low: StaticString,
        last: StaticString,
        _ out: inout JSONWriter
    ) {
        out.field(open, day?.open ?? .zero)
        out.field(high, day?.high ?? .zero)
        out.field(low, day?.low ?? .zero)
        out.field(last, day?.last ?? .zero)
        out.field("volume", day?.volume ?? ExactSum())
    }

    /// Writes `"XXBTZUSD":{"c":[…],"v":["today","24 h"],…}`. A mock venue's today is the last 24 hours.
    private static func kraken(_ one: (symbol: String, day: PlayedDay?), _ out: inout JSONWriter) {
        let text = { (number: ExactDecimal?) in "\(number ?? .zero)" }
        let volume = one.day.map { "\($0.volume)" } ?? "0"
        out.object(named: String(one.symbol.dropFirst("\(Venue.kraken.prefix)".count))) { out in
            out.field("c", [text(one.day?.last), "0"])
            out.field("v", [volume, volume])
            out.field("l", [text(one.day?.low), text(one.day?.low)])
            out.field("h", [text(one.day?.high), text(one.day?.high)])
            out.field("o", text(one.day?.open))
        }
    }
}
