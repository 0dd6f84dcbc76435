public import Market

/// The parser of the text frames of Kraken's WebSocket API, version 2.
///
/// It first tries the exact shape of trades (``KrakenTemplate``). If a frame differs from that, it reads the frame
/// again as general JSON (``KrakenGeneralParser``). Both give the same result for every frame that the first accepts.
///
/// A frame may contain trades of several symbols. Those of a snapshot are from before the subscription, so they are
/// marked ``TradeMarks/filled``. Prices and sizes are JSON numbers, of which the digits are taken.
///
/// A trade costs no allocation while `trades` has capacity and its symbol is known.
public struct KrakenParser: VenueFrameParser {
    private var names = VenueSymbols(.kraken)
    private var times = TemplateTime()

    public init() {}

    /// Reads one text frame, appends its trades and returns its content; see `VenueParser`.
    public mutating func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        let start = trades.count
        let isExact = KrakenTemplate.parse(
            frame,
            times: &self.times,
            names: &self.names,
            symbols: &symbols,
            into: &trades
        )
        if isExact { return .trades(skipped: 0) }
        trades.removeLast(trades.count - start)
        return Self.parseGenerally(frame, symbols: &symbols, into: &trades)
    }

    /// Reads one text frame only as general JSON, for comparison.
    public static func parseGenerally(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        KrakenGeneralParser.parse(frame, symbols: &symbols, into: &trades)
    }
}
