import Market
package import NIOCore

/// The test whether a message holds trades.
package struct TradeFinder {
    private var reader = FrameReader()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []

    package init() {}

    package mutating func hasTrades(_ frame: ByteBuffer, of dialect: FrameDialect) -> Bool {
        self.trades.removeAll(keepingCapacity: true)
        _ = self.reader.read(frame, of: dialect, symbols: &self.symbols, into: &self.trades)
        return !self.trades.isEmpty
    }

    package mutating func hasTrades(_ frame: RecordedFrame) -> Bool { self.hasTrades(frame.frame, of: frame.dialect) }
}
