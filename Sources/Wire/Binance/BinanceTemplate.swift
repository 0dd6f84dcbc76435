import Market

/// A parser for trade frames in exactly the shape that Binance sends on a combined stream:
/// `{"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":3735683259,"p":"61837.63000000",`
/// `"q":"0.02000000","T":1723161255342,"m":true,"M":true}}`, or only what is in `data`, as on a raw stream.
///
/// It compares eight bytes at a time with the expected text and gives up at the first difference; the general parser
/// then reads the frame from its start. It accepts nothing that the general parser would read differently.
///
/// Every read stays inside the frame: each check requires as many bytes as the shortest possible rest of a frame of
/// this shape, and the reads before the next check need fewer.
struct BinanceTemplate {
    /// The shortest frame, and the shortest rest from the symbol, from the id, from the price and from the time.
    private static let shortest = 97
    private static let restOfSymbol = 61
    private static let restOfID = 54
    private static let restOfPrice = 47
    private static let restOfTime = 32
    /// The longest name of a stream.
    private static let longestStream = 192

    /// Reads the frame's trade; `nil` if the frame has another shape.
    @inline(__always)
    static func parse(
        _ frame: UnsafeRawBufferPointer,
        names: inout VenueSymbols,
        symbols: inout SymbolTable
    ) -> Trade? {
        guard var here = frame.baseAddress, frame.count >= Self.shortest else { return nil }
        let end = here + frame.count
        var isCombined = false
        if VenueTemplate.take(#"{"stream":""#, &here) {
            isCombined = true
            guard let length = PlainText.length(at: here, end: end, limit: Self.longestStream) else { return nil }
            here += length
            // The shortest raw frame, and what surrounds it.
            guard end - here >= Self.shortest + 10, VenueTemplate.take(#"","data":{"e":"trade","E":"#, &here)
            else { return nil }
        } else {
            guard VenueTemplate.take(#"{"e":"trade","E":"#, &here) else { return nil }
        }
        guard VenueTemplate.takeMilliseconds(&here), VenueTemplate.take(#","s":""#, &here) else { return nil }

        guard end - here >= Self.restOfSymbol, let symbol = names.take(&here, end: end, symbols: &symbols)
        else { return nil }
        guard end - here >= Self.restOfID + 5, VenueTemplate.take(#","t":"#, &here) else { return nil }
        guard let id = VenueTemplate.integer(&here), VenueTemplate.take(#","p":""#, &here) else { return nil }

        guard end - here >= Self.restOfPrice else { return nil }
        guard let price = VenueTemplate.positive(&here), VenueTemplate.take(#"","q":""#, &here) else { return nil }
        guard end - here >= 1 + 6 + Self.restOfTime else { return nil }
        guard let size = VenueTemplate.positive(&here), VenueTemplate.take(#"","T":"#, &here) else { return nil }

        guard end - here >= Self.restOfTime, let time = VenueTemplate.milliseconds(&here) else { return nil }
        guard VenueTemplate.take(#","m":"#, &here), VenueTemplate.takeBool(&here) else { return nil }
        guard end - here >= 10, VenueTemplate.take(#","M":"#, &here), VenueTemplate.takeBool(&here) else { return nil }
        guard end - here == (isCombined ? 2 : 1), here.byte() == "}", !isCombined || here.byte(1) == "}"
        else { return nil }
        return Trade(price: price, size: size, exchangeTime: time, symbol: symbol, id: id)
    }
}
