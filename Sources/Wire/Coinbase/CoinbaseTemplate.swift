import Market

/// A parser for matches in exactly the shape that Coinbase Exchange sends:
/// `{"type":"match","trade_id":1081862675,"maker_order_id":"f07e510f-…","taker_order_id":"e6f50944-…","side":"sell",`
/// `"size":"0.00000001","price":"80691.53","product_id":"BTC-USD","sequence":134905860111,`
/// `"time":"2026-08-25T03:35:57.198335Z"}`, or with the type `last_match`.
///
/// It compares eight bytes at a time with the expected text and gives up at the first difference; the general parser
/// then reads the frame from its start. It accepts nothing that the general parser would read differently.
///
/// Every read stays inside the frame: each check requires as many bytes as the shortest possible rest of a frame of
/// this shape, and the reads before the next check need fewer.
struct CoinbaseTemplate {
    /// The shortest frame, and the shortest rest from the size, from the product, from behind it and from the time.
    private static let shortest = 244
    private static let restOfSize = 82
    private static let restOfProduct = 53
    private static let restBehindProduct = 51
    private static let restOfTime = 29

    /// Reads the frame's trade; `nil` if the frame has another shape.
    @inline(__always)
    static func parse(
        _ frame: UnsafeRawBufferPointer,
        times: inout TemplateTime,
        names: inout VenueSymbols,
        symbols: inout SymbolTable
    ) -> Trade? {
        guard var here = frame.baseAddress, frame.count >= Self.shortest else { return nil }
        let end = here + frame.count
        var marks: TradeMarks = []
        if !VenueTemplate.take(#"{"type":"match","trade_id":"#, &here) {
            guard VenueTemplate.take(#"{"type":"last_match","trade_id":"#, &here) else { return nil }
            marks = .filled
        }
        guard
            let id = VenueTemplate.integer(&here),
            VenueTemplate.take(#","maker_order_id":""#, &here), Self.takeOrder(&here),
            VenueTemplate.take(#"","taker_order_id":""#, &here), Self.takeOrder(&here),
            VenueTemplate.take(#"","side":""#, &here),
            VenueTemplate.take(#"sell","size":""#, or: #"buy","size":""#, &here)
        else { return nil }

        guard end - here >= Self.restOfSize else { return nil }
        guard
            let size = VenueTemplate.positive(&here), VenueTemplate.take(#"","price":""#, &here),
            let price = VenueTemplate.positive(&here), VenueTemplate.take(#"","product_id":""#, &here)
        else { return nil }

        guard end - here >= Self.restOfProduct, let symbol = names.take(&here, end: end, symbols: &symbols)
        else { return nil }
        guard
            end - here >= Self.restBehindProduct, VenueTemplate.take(#","sequence":"#, &here),
            VenueTemplate.integer(&here) != nil, VenueTemplate.take(#","time":""#, &here)
        else { return nil }
        guard
            end - here == Self.restOfTime, let time = times.parse(&here), here.byte() == "\"", here.byte(1) == "}"
        else { return nil }
        return Trade(price: price, size: size, exchangeTime: time, symbol: symbol, id: id, marks: marks)
    }

    /// Moves past an order's id, 36 bytes that need no escape. It reads 36 bytes.
    @inline(__always)
    private static func takeOrder(_ here: inout UnsafeRawPointer) -> Bool {
        let isPlain = PlainText.isPlain(here, 0, 16, 20)
        here += 36
        return isPlain
    }
}
