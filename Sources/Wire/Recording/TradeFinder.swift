import Market
package import NIOCore

/// The telling of messages with trades from others.
package struct TradeFinder {
    private var parser = FinnhubParser()
    private var symbols = SymbolTable()
    private var trades: [Trade] = []

    package init() {}

    package mutating func hasTrades(_ frame: ByteBuffer) -> Bool {
        self.trades.removeAll(keepingCapacity: true)
        guard case .trade = self.parser.parse(frame, symbols: &self.symbols, into: &self.trades) else { return false }
        return !self.trades.isEmpty
    }
}
