public import Market

/// The parser of the text frames of Coinbase Exchange's feed.
///
/// It first tries the exact shape of a match (``CoinbaseTemplate``). If a frame differs from that, it reads the frame
/// again as general JSON (``CoinbaseGeneralParser``). Both give the same result for every frame that the first accepts.
///
/// A `last_match` is a trade from before the subscription, so it is marked ``TradeMarks/filled``.
///
/// A trade costs no allocation while `trades` has capacity and its symbol is known.
public struct CoinbaseParser: VenueFrameParser {
    private var names = VenueSymbols(.coinbase)
    private var times = TemplateTime()

    public init() {}

    /// Reads one text frame, appends its trades and returns its content; see `VenueParser`.
    public mutating func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        if let trade = CoinbaseTemplate.parse(frame, times: &self.times, names: &self.names, symbols: &symbols) {
            trades.append(trade)
            return .trades(skipped: 0)
        }
        return Self.parseGenerally(frame, symbols: &symbols, into: &trades)
    }

    /// Reads one text frame only as general JSON, for comparison.
    public static func parseGenerally(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        CoinbaseGeneralParser.parse(frame, symbols: &symbols, into: &trades)
    }
}
