public import Market

/// The parser of the text frames of Binance's spot market: combined and raw streams, and answers to requests.
///
/// It first tries the exact shape of a trade (``BinanceTemplate``). If a frame differs from that, it reads the frame
/// again as general JSON (``BinanceGeneralParser``). Both give the same result for every frame that the first accepts.
///
/// Only `trade` events are trades: `aggTrade` merges several, `blockTrade` has ids of its own, and trades of the
/// futures market, which have a member `X`, belong to other symbols of the same names.
///
/// A trade costs no allocation while `trades` has capacity and its symbol is known.
public struct BinanceParser: VenueFrameParser {
    private var names = VenueSymbols(.binance)

    public init() {}

    /// Reads one text frame, appends its trades and returns its content; see `VenueParser`.
    public mutating func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        if let trade = BinanceTemplate.parse(frame, names: &self.names, symbols: &symbols) {
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
        BinanceGeneralParser.parse(frame, symbols: &symbols, into: &trades)
    }
}
