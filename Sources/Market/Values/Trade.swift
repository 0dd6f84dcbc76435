/// A symbol's number in a ``SymbolTable``; small and dense, so it indexes arrays.
@frozen
public struct SymbolID: Sendable, Hashable {
    public let index: UInt16

    @inlinable
    public init(index: UInt16) {
        self.index = index
    }
}

/// What the feed knows of a trade beside what the venue said of it.
@frozen
public struct TradeMarks: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It may be a trade that was on the tape before: it equals one that came within 2 s or before an interruption, and
    /// no id proves either. It counts in volume and bars.
    public static var possibleRepeat: TradeMarks { @inlinable get { TradeMarks(rawValue: 1) } }
    /// The exchange's time is later than the arrival by more than clocks explain. It moves no clock and opens no bar of a
    /// time to come.
    public static var ahead: TradeMarks { @inlinable get { TradeMarks(rawValue: 2) } }
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
    /// What is known of it beside that; empty for nearly every trade.
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

    /// Whether both are equal in all that the venue said of them; what the feed knows of either plays no part.
    @inlinable
    public func isSaidAgain(by other: Trade) -> Bool {
        self.exchangeTime == other.exchangeTime && self.symbol == other.symbol && self.size == other.size
            && self.price == other.price
    }

    /// Whether this only states a price (`v = 0`): shown, and kept out of volume and of the count of trades.
    @inlinable
    public var isPriceUpdate: Bool { self.size.isZero }
}
