package import Market
package import NIOCore

/// A message of `/v1/stream`, as a client of a relay reads it.
package enum StreamMessage: Sendable, Equatable {
    /// The first message of a connection: the run of numbers, the newest number, the symbols that the feed has, what is
    /// true of it, and where its replay stands, if it is one that tells.
    case hello(epoch: UInt64?, newest: UInt64?, symbols: [String] = [], FeedStatus, replay: ReplayPosition? = nil)
    /// The newest price there is, and how long ago its trade arrived at the relay (ns), where that says so.
    case snapshot(PriceUpdate, age: Int64? = nil)
    case price(PriceUpdate)
    /// Trades came in that showed no new price.
    case trades(SymbolSummary)
    /// One trade, for a reader that asked for every one.
    case trade(StreamTrade)
    case status(FeedStatus)
    case gap(Gap)
    /// The end of the catching up after a break.
    case resumed(StreamResumed)
    /// What is true of one symbol.
    case symbol(SymbolStatus)
    /// Nobody asks for a symbol any more: its price is of then, and no other comes. Since when, ns since 1970.
    case released(String, since: Int64)
    /// Somebody changed the replay: where it stands now.
    case replay(ReplayPosition)
    case error(String)
    /// A message of a type that this program does not know; to be ignored.
    case unknown(type: String)
    /// No message at all.
    case malformed(reason: String)

    /// The longest time since 1970, and the longest age, that is taken for meant, ns: 146 years. No sum and no difference of two
    /// of them overflows.
    package static let longestSpan = Int64.max / 2

    /// Reads one text message. Unknown keys are ignored; times come back in ns, with the precision they were sent in.
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

/// How the catching up after a break ended.
package struct StreamResumed: Sendable, Equatable {
    /// The newest trade that was caught up with; what follows is live.
    package var position: TapePosition
    /// How many trades of the client's symbols that was.
    package var trades: UInt64
    /// Whether nothing is missing; if not, a gap stood in front.
    package var isComplete: Bool

    package init(position: TapePosition, trades: UInt64, isComplete: Bool) {
        self.position = position
        self.trades = trades
        self.isComplete = isComplete
    }
}

/// One trade as `/v1/stream` sends it to whoever wants every one.
package struct StreamTrade: Sendable, Equatable {
    package var symbol: String
    package var sequence: UInt64
    package var price: ExactDecimal
    package var size: ExactDecimal
    /// The exchange's clock and our wall clock, ns since 1970.
    package var exchangeTime: Int64
    package var received: Int64
    /// Whether the exchange's time is later than the arrival by more than clocks explain (``TradeMarks/ahead``).
    package var isAhead: Bool
    /// Whether it may be a trade that was there before (``TradeMarks/possibleRepeat``).
    package var isPossibleRepeat: Bool

    package init(
        symbol: String,
        sequence: UInt64,
        price: ExactDecimal,
        size: ExactDecimal,
        exchangeTime: Int64,
        received: Int64,
        isAhead: Bool = false,
        isPossibleRepeat: Bool = false
    ) {
        self.symbol = symbol
        self.sequence = sequence
        self.price = price
        self.size = size
        self.exchangeTime = exchangeTime
        self.received = received
        self.isAhead = isAhead
        self.isPossibleRepeat = isPossibleRepeat
    }
}
