import Market

/// The trades of tests, created from text.
struct Samples {
    var symbols = SymbolTable()

    /// Creates a trade; `time` is in ms of the exchange's clock.
    mutating func trade(_ price: String, size: String = "1", time: Int64 = 1_000, symbol: String = "X") -> Trade {
        guard let price = ExactDecimal(price), let size = ExactDecimal(size), let id = self.symbols.intern(symbol)
        else {
            preconditionFailure("a sample that is no trade: \(price) \(size) \(symbol)")
        }
        return Trade(price: price, size: size, exchangeTime: time * 1_000_000, symbol: id)
    }
}
