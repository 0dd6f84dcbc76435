/// A symbol's number in a ``SymbolTable``; small and dense, so it indexes arrays.
@frozen
public struct SymbolID: Sendable, Hashable {
    public let index: UInt16

    @inlinable
    public init(index: UInt16) {
        self.index = index
    }
}

/// One trade as the venue reported it.
@frozen
public struct Trade: Sendable, Hashable {
    /// The price, exactly as sent.
    public var price: ExactDecimal
    /// The size of this one trade, exactly as sent; zero marks a price update that is not a trade.
    public var size: ExactDecimal
    /// The exchange's clock, nanoseconds since 1970 UTC.
    public var exchangeTime: Int64
    public var symbol: SymbolID

    @inlinable
    public init(price: ExactDecimal, size: ExactDecimal, exchangeTime: Int64, symbol: SymbolID) {
        self.price = price
        self.size = size
        self.exchangeTime = exchangeTime
        self.symbol = symbol
    }

    /// Whether this only states a price (`v = 0`): shown, and kept out of volume and of the count of trades.
    @inlinable
    public var isPriceUpdate: Bool { self.size.isZero }
}
