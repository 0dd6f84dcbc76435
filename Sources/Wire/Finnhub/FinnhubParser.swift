public import Market
public import NIOCore

/// The reader of Finnhub's text frames: bytes in, trades out, with no JSON tree and no floating point between.
///
/// It first expects the exact shape that Finnhub sends (``FinnhubTemplate``) and, at the first surprise, reads the frame
/// again as general JSON (``FinnhubGeneralParser``), which accepts whatever a careful reader of
/// <https://finnhub.io/docs/api/websocket-trades> may expect. Both give the same answer for every frame that the first
/// accepts; the tests compare them on mutated frames.
///
/// A frame costs no allocation as long as `trades` has room and its symbols are known.
public struct FinnhubParser: Sendable {
    /// The symbol that came last: the first guess for the next one.
    private var lastSymbol = 0
    /// Whether the frame that was read last has exactly the shape that Finnhub sends: then nothing stands in it but numbers,
    /// names of symbols and the fixed parts between them.
    public private(set) var wasExact = false

    public init() {}

    /// Reads one text frame, appends its trades and says what it was.
    ///
    /// Trades are appended in the frame's order, for ``FinnhubMessage/trade(count:skipped:)`` only; new symbols get their
    /// numbers from `symbols`. Never reads outside of `frame` and never traps, whatever the bytes are.
    public mutating func parse(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FinnhubMessage {
        let start = trades.count
        var template = FinnhubTemplate(frame: frame, symbol: self.lastSymbol)
        self.wasExact = template.parse(symbols: &symbols, into: &trades)
        if self.wasExact {
            self.lastSymbol = template.symbol
            return .trade(count: trades.count - start, skipped: 0)
        }
        trades.removeLast(trades.count - start)
        return Self.parseGenerally(frame, symbols: &symbols, into: &trades)
    }

    /// Reads one text frame; see ``parse(_:symbols:into:)-(UnsafeRawBufferPointer,_,_)``.
    public mutating func parse(
        _ frame: ByteBuffer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FinnhubMessage {
        frame.withUnsafeReadableBytes { self.parse($0, symbols: &symbols, into: &trades) }
    }

    /// Reads one text frame as general JSON only, for comparison.
    public static func parseGenerally(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FinnhubMessage {
        var parser = FinnhubGeneralParser(frame: frame)
        return parser.parse(symbols: &symbols, into: &trades)
    }
}
