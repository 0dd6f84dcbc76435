package import Market

/// The parser of one venue's text frames.
package struct VenueParser: VenueFrameParser {
    package let venue: Venue
    // All three, so that a frame changes one of them in place. An unused one is a few words.
    private var binance = BinanceParser()
    private var coinbase = CoinbaseParser()
    private var kraken = KrakenParser()

    package init(_ venue: Venue) { self.venue = venue }

    /// Reads one text frame, appends its trades and returns its content.
    ///
    /// Trades are appended in the frame's order, only for ``VenueMessage/trades(skipped:)``. New symbols get their
    /// numbers from `symbols`. It never reads outside of `frame` and never traps, whatever the bytes are.
    package mutating func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        switch self.venue {
        case .binance: self.binance.parse(frame, symbols: &symbols, into: &trades)
        case .coinbase: self.coinbase.parse(frame, symbols: &symbols, into: &trades)
        case .kraken: self.kraken.parse(frame, symbols: &symbols, into: &trades)
        }
    }

    /// Reads one text frame only as general JSON, for comparison.
    package static func parseGenerally(
        _ frame: UnsafeRawBufferPointer,
        of venue: Venue,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> VenueMessage {
        switch venue {
        case .binance: BinanceParser.parseGenerally(frame, symbols: &symbols, into: &trades)
        case .coinbase: CoinbaseParser.parseGenerally(frame, symbols: &symbols, into: &trades)
        case .kraken: KrakenParser.parseGenerally(frame, symbols: &symbols, into: &trades)
        }
    }
}
