/// A symbol's number in a ``SymbolTable``, small and dense, so that it can index arrays.
@frozen
public struct SymbolID: Sendable, Hashable {
    public let index: UInt16

    @inlinable
    public init(index: UInt16) {
        self.index = index
    }
}

/// The feed's own findings about a trade, in addition to the venue's data.
@frozen
public struct TradeMarks: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The trade may have been on the tape before: it equals one that came within 2 s or before an interruption, and no
    /// id proves or disproves the repetition. It counts in volume and bars.
    public static var possibleRepeat: TradeMarks { @inlinable get { TradeMarks(rawValue: 1) } }
    /// The exchange's time is later than the arrival by more than clock differences explain. The trade moves no clock
    /// and opens no bar in the future.
    public static var ahead: TradeMarks { @inlinable get { TradeMarks(rawValue: 2) } }
}

/// One trade as the venue reported it.
@frozen
public struct Trade: Sendable, Hashable {
    /// The price, exactly as sent.
    public var price: ExactDecimal
    /// The size of this trade, exactly as sent; zero marks a price update, which is not a trade.
    public var size: ExactDecimal
    /// The exchange's clock, ns since 1970 UTC.
    public var exchangeTime: Int64
    public var symbol: SymbolID
    /// The feed's own findings; empty for nearly every trade.
    public var marks: TradeMarks

    @inlinable
    public init(
        price: ExactDecimal,
        size: ExactDecimal,
        exchangeTime: Int64,
        symbol: SymbolID,
        marks: TradeMarks = []
    ) {
        self.price = price
        self.size = size
        self.exchangeTime = exchangeTime
        self.symbol = symbol
        self.marks = marks
    }

    /// Returns whether both are equal in all of the venue's data. The feed's own marks are ignored.
    @inlinable
    public func hasSameContent(by other: Trade) -> Bool {
        self.exchangeTime == other.exchangeTime && self.symbol == other.symbol && self.size == other.size
            && self.price == other.price
    }

    /// Whether this is only a price update (`v = 0`): shown, but excluded from the volume and the count of trades.
    @inlinable
    public var isPriceUpdate: Bool { self.size.isZero }
}
