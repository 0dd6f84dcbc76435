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
    /// The trade was missing and came after newer trades of its symbol. It counts in volume, bars and history at its
    /// own time, and is no price: it changes no age, no state and no latency, and fires no alert.
    public static var filled: TradeMarks { @inlinable get { TradeMarks(rawValue: 4) } }
}

/// One trade as the venue reported it.
///
/// The order of its members leaves no holes: many trades are kept.
@frozen
public struct Trade: Sendable, Hashable {
    /// The exchange's clock, ns since 1970 UTC.
    public var exchangeTime: Int64
    /// The id plus one; 0 for none.
    @usableFromInline var idBehind: UInt64
    /// The price, exactly as sent.
    public var price: ExactDecimal
    public var symbol: SymbolID
    /// The feed's own findings; empty for nearly every trade.
    public var marks: TradeMarks
    /// The size of this trade, exactly as sent; zero marks a price update, which is not a trade.
    public var size: ExactDecimal

    @inlinable
    public init(
        price: ExactDecimal,
        size: ExactDecimal,
        exchangeTime: Int64,
        symbol: SymbolID,
        id: UInt64? = nil,
        marks: TradeMarks = []
    ) {
        self.exchangeTime = exchangeTime
        self.idBehind = id.map { $0 &+ 1 } ?? 0
        self.price = price
        self.symbol = symbol
        self.marks = marks
        self.size = size
    }

    /// The venue's own number of the trade; each trade of a symbol has the next one. `nil` where the upstream sends
    /// none, as Finnhub, and for the largest 64-bit number.
    @inlinable
    public var id: UInt64? {
        get { self.idBehind == 0 ? nil : self.idBehind - 1 }
        set { self.idBehind = newValue.map { $0 &+ 1 } ?? 0 }
    }

    /// Returns whether both are equal in all of the venue's data. The feed's own marks are ignored.
    @inlinable
    public func hasSameContent(by other: Trade) -> Bool {
        self.exchangeTime == other.exchangeTime && self.symbol == other.symbol && self.size == other.size
            && self.price == other.price && self.idBehind == other.idBehind
    }

    /// Whether this is only a price update (`v = 0`): shown, but excluded from the volume and the count of trades.
    @inlinable
    public var isPriceUpdate: Bool { self.size.isZero }

    /// Whether the trade came after newer ones of its symbol (``TradeMarks/filled``).
    @inlinable
    public var isFilled: Bool { self.marks.contains(.filled) }
}
