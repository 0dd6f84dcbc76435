public import Market
public import NIOCore

/// The parser of Finnhub's text frames: bytes in, trades out, without a JSON tree and without floating point.
///
/// It first tries the exact shape that Finnhub sends (``FinnhubTemplate``). If a frame differs from that, it reads the
/// frame again as general JSON (``FinnhubGeneralParser``), which accepts everything that
/// <https://finnhub.io/docs/api/websocket-trades> allows. Both give the same result for every frame that the first
/// accepts; the tests compare them on mutated frames.
///
/// A frame costs no allocation while `trades` has capacity and its symbols are known.
public struct FinnhubParser: Sendable {
    /// The symbol of the newest trade, which is the first guess for the next one.
    private var lastSymbol = 0
    /// Whether the last frame had exactly the shape that Finnhub sends. It then contains only numbers, names of symbols
    /// and the fixed parts between them.
    public private(set) var wasExact = false

    public init() {}

    /// Reads one text frame, appends its trades and returns its content.
    ///
    /// Trades are appended in the frame's order, only for ``FinnhubMessage/trade(count:skipped:)``. New symbols get
    /// their numbers from `symbols`. It never reads outside of `frame` and never traps, whatever the bytes are.
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

    /// Reads one text frame only as general JSON, for comparison.
    public static func parseGenerally(
        _ frame: UnsafeRawBufferPointer,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FinnhubMessage {
        var parser = FinnhubGeneralParser(frame: frame)
        return parser.parse(symbols: &symbols, into: &trades)
    }
}
