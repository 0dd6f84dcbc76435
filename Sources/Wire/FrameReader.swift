package import Market
package import NIOCore

/// What a frame holds, as the reader of its dialect found.
package enum FrameContent: Sendable, Equatable {
    /// Trades, of which so many elements were malformed or could not be held.
    case trades(skipped: Int)
    /// A well-formed message without trades.
    case other
    /// Not a message of the dialect.
    case malformed
}

/// A reader of frames for their trades: the one place where a dialect's parser is chosen.
package struct FrameReader: Sendable {
    private var finnhub = FinnhubParser()

    package init() {}

    /// Appends a frame's trades, in the frame's order, and says what it is; new symbols get their numbers from `symbols`.
    package mutating func read(
        _ frame: ByteBuffer,
        of dialect: FrameDialect,
        symbols: inout SymbolTable,
        into trades: inout [Trade]
    ) -> FrameContent {
        switch dialect {
        case .finnhub:
            switch self.finnhub.parse(frame, symbols: &symbols, into: &trades) {
            case .trade(_, let skipped): .trades(skipped: skipped)
            case .ping, .error, .news, .unknown: .other
            case .malformed: .malformed
            }
        case .tickertape: StreamMessage.parse(frame).appendTrade(to: &trades, symbols: &symbols)
        }
    }
}
