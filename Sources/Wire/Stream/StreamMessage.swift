package import Market
package import NIOCore

/// A message of `/v1/stream`, as a client of a relay reads it.
package enum StreamMessage: Sendable, Equatable {
    /// The first message of a connection: the run of numbers, the newest number, the feed's symbols and status, and the
    /// replay's position, if it reports one.
    case hello(epoch: UInt64?, newest: UInt64?, symbols: [String] = [], FeedStatus, replay: ReplayPosition? = nil)
    /// The newest price, and the time since its trade arrived at the relay (ns), if the message contains it.
    case snapshot(PriceUpdate, age: Int64? = nil)
    case price(PriceUpdate)
    /// Trades without a new price to show.
    case trades(SymbolSummary)
    /// One trade, for a client that gets every trade.
    case trade(StreamTrade)
    case status(FeedStatus)
    case gap(Gap)
    /// What became of a gap whose missing trades have ids.
    case settled(GapOutcome)
    /// The venue's own figures of a symbol's last 24 hours.
    case venueDay(VenueDay)
    /// The end of the trades that the client missed.
    case resumed(StreamResumed)
    /// The status of one symbol.
    case symbol(SymbolStatus)
    /// No subscription to a symbol remains: its price is of this time (ns since 1970), and no further price follows.
    case released(String, since: Int64)
    /// The replay's position after a request changed it.
    case replay(ReplayPosition)
    case error(String)
    /// A message of a type that this program does not know; readers ignore it.
    case unknown(type: String)
    /// Not a message of the protocol.
    case malformed(reason: String)

    /// The latest time and the largest age that are accepted, ns: 146 years since 1970. No sum or difference of two of
    /// them overflows.
    package static let longestSpan = Int64.max / 2

    /// Reads one text message. Unknown keys are ignored. Times are returned in ns, with the precision in which they
    /// were sent.
    package static func parse(_ text: ByteBuffer) -> StreamMessage {
        text.withUnsafeReadableBytes { bytes in
            guard let fields = StreamFields(bytes) else { return .malformed(reason: "no JSON object") }
            switch fields.type {
            case "hello":
                return fields.nestedStatus.map {
                    .hello(
                        epoch: fields.count("epoch"),
                        newest: fields.count("seq"),
                        symbols: fields.symbolNames,
                        $0,
                        replay: fields.nestedReplay
                    )
                } ?? .malformed(reason: "hello")
            case "trade": return fields.trade.map { .trade($0) } ?? .malformed(reason: "trade")
            case "snapshot":
                return fields.update.map { .snapshot($0, age: fields.age) } ?? .malformed(reason: "snapshot")
            case "price": return fields.update.map { .price($0) } ?? .malformed(reason: "price")
            case "trades": return fields.update.map { .trades($0.summary) } ?? .malformed(reason: "trades")
            case "status": return fields.status.map { .status($0) } ?? .malformed(reason: "status")
            case "gap": return fields.gap.map { .gap($0) } ?? .malformed(reason: "gap")
            case "settled": return fields.outcome.map { .settled($0) } ?? .malformed(reason: "settled")
            case "venueDay": return fields.venueDay.map { .venueDay($0) } ?? .malformed(reason: "venueDay")
            case "resumed": return fields.resumed.map { .resumed($0) } ?? .malformed(reason: "resumed")
            case "symbol":
                if let symbol = fields.releasedSymbol, let since = fields.since {
                    return .released(symbol, since: since)
                }
                return fields.symbolStatus.map { .symbol($0) } ?? .malformed(reason: "symbol")
            case "replay": return fields.replay.map { .replay($0) } ?? .malformed(reason: "replay")
            case "error": return .error(fields.text("msg") ?? "")
            case .some(let type): return .unknown(type: type)
            case nil: return .malformed(reason: "no type")
            }
        }
    }
}

/// The end of the trades that a client missed during an interruption.
package struct StreamResumed: Sendable, Equatable {
    /// The newest of the missed trades; live trades follow.
    package var position: TapePosition
    /// The number of missed trades of the client's symbols.
    package var trades: UInt64
    /// Whether no trade is missing; if not, a gap preceded this message.
    package var isComplete: Bool

    package init(position: TapePosition, trades: UInt64, isComplete: Bool) {
        self.position = position
        self.trades = trades
        self.isComplete = isComplete
    }
}

/// One trade as `/v1/stream` sends it to a client that gets every trade.
package struct StreamTrade: Sendable, Equatable {
    package var symbol: String
    package var sequence: UInt64
    package var price: ExactDecimal
    package var size: ExactDecimal
    /// The exchange's clock and the relay's wall clock, ns since 1970.
    package var exchangeTime: Int64
    package var received: Int64
    /// Whether the exchange's time is later than the arrival by more than clock differences explain
    /// (``TradeMarks/ahead``).
    package var isAhead: Bool
    /// Whether the trade may repeat an earlier one (``TradeMarks/possibleRepeat``).
    package var isPossibleRepeat: Bool
    /// The venue's number of the trade; `nil` if the upstream sends none.
    package var id: UInt64?
    /// Whether the trade was missing and came after newer ones, so that it is no price (``TradeMarks/filled``).
    package var isFilled: Bool

    package init(
        symbol: String,
        sequence: UInt64,
        price: ExactDecimal,
        size: ExactDecimal,
        exchangeTime: Int64,
        received: Int64,
        isAhead: Bool = false,
        isPossibleRepeat: Bool = false,
        id: UInt64? = nil,
        isFilled: Bool = false
    ) {
        self.symbol = symbol
        self.sequence = sequence
        self.price = price
        self.size = size
        self.exchangeTime = exchangeTime
        self.received = received
        self.isAhead = isAhead
        self.isPossibleRepeat = isPossibleRepeat
        self.id = id
        self.isFilled = isFilled
    }
}
