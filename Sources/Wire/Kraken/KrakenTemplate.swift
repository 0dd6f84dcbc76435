import Market

/// A parser for trades in exactly the shape that Kraken sends:
/// `{"channel":"trade","type":"update","data":[{"symbol":"BTC/USD","side":"buy","price":83744.3,"qty":0.00044780,`
/// `"ord_type":"limit","trade_id":109116693,"timestamp":"2026-09-25T17:48:26.844359Z"},…]}`, or with the type `snapshot`.
///
/// It compares eight bytes at a time with the expected text and gives up at the first difference; the general parser
/// then reads the frame from its start. It accepts nothing that the general parser would read differently.
///
/// Every read stays inside the frame: each check requires as many bytes as the shortest possible rest of a frame of
/// this shape, and the reads before the next check need fewer.
struct KrakenTemplate {
    /// The shortest frame, and the shortest rest from an element, from its symbol, from behind that, from the order's
    /// type and from the time.
    private static let shortest = 164
    private static let restOfElement = 121
    private static let restOfSymbol = 110
    private static let restBehindSymbol = 108
    private static let restOfOrder = 77
    private static let restOfTime = 31

    /// Appends the frame's trades. Returns `false`, with some of them already appended, if the frame has another shape.
    @inline(__always)
    static func parse(
        _ frame: UnsafeRawBufferPointer,
        times: inout TemplateTime,
        names: inout VenueSymbols,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> Bool {
        guard var here = frame.baseAddress, frame.count >= Self.shortest else { return false }
        let end = here + frame.count
        var marks: TradeMarks = []
        guard VenueTemplate.take(#"{"channel":"trade","type":""#, &here) else { return false }
        if !VenueTemplate.take(#"update","data":["#, &here) {
            guard VenueTemplate.take(#"snapshot","data":["#, &here) else { return false }
            marks = .filled
        }
        while true {
            guard
                let trade = Self.element(
                    &here,
                    end: end,
                    marks: marks,
                    times: &times,
                    names: &names,
                    symbols: &symbols
                )
            else { return false }
            trades.append(trade)
            // An element ends with at least two bytes left.
            if here.byte() == "," {
                here += 1
                continue
            }
            return end - here == 2 && here.byte() == "]" && here.byte(1) == "}"
        }
    }

    /// Reads one element and moves past it; `nil` if it has another shape, or fewer than two bytes follow.
    @inline(__always)
    private static func element(
        _ here: inout UnsafeRawPointer,
        end: UnsafeRawPointer,
        marks: TradeMarks,
        times: inout TemplateTime,
        names: inout VenueSymbols,
        symbols: inout SymbolTable
    ) -> Trade? {
        guard end - here >= Self.restOfElement, VenueTemplate.take(#"{"symbol":""#, &here) else { return nil }
        guard end - here >= Self.restOfSymbol, let symbol = names.take(&here, end: end, symbols: &symbols)
        else { return nil }

        guard
            end - here >= Self.restBehindSymbol, VenueTemplate.take(#","side":""#, &here),
            VenueTemplate.take(#"sell","price":"#, or: #"buy","price":"#, &here),
            let price = VenueTemplate.positive(&here), VenueTemplate.take(#","qty":"#, &here),
            let size = VenueTemplate.positive(&here)
        else { return nil }

        guard
            end - here >= Self.restOfOrder, VenueTemplate.take(#","ord_type":""#, &here),
            VenueTemplate.take(#"limit","trade_id":"#, or: #"market","trade_id":"#, &here),
            let id = VenueTemplate.integer(&here), VenueTemplate.take(#","timestamp":""#, &here)
        else { return nil }
        guard
            end - here >= Self.restOfTime, let time = times.parse(&here), here.byte() == "\"", here.byte(1) == "}"
        else { return nil }
        here += 2
        return Trade(price: price, size: size, exchangeTime: time, symbol: symbol, id: id, marks: marks)
    }
}
