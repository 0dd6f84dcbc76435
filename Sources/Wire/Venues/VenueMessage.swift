/// The content of a venue's text frame.
public enum VenueMessage: Sendable, Equatable {
    /// Trades, which were appended; `skipped` elements were malformed or could not be held. Those from before the
    /// subscription (Coinbase's `last_match`, Kraken's snapshot) are marked ``TradeMarks/filled``.
    case trades(skipped: Int)
    /// The id of the newest trade of a symbol, as the tape names it; `nil` where the venue does not know it (Coinbase
    /// sends 0).
    case heartbeat(symbol: String, newest: UInt64?)
    /// A sign of life without content: a heartbeat without ids, a pong.
    case alive
    /// What the venue says of its own service (Kraken's `status`).
    case service(VenueServiceState)
    /// The venue acknowledges a request; the number is that of the request. Binance acknowledges wrong names, too.
    case acknowledged(request: Int64?)
    /// The symbols to which the connection is subscribed now, as the tape names them. Coinbase sends all of them,
    /// Kraken one for each subscription.
    case subscribed([String])
    /// The symbols whose subscription has ended, as the tape names them.
    case unsubscribed([String])
    /// The venue refuses a subscription, in its own words; `symbol` as the tape names it, `nil` where the words name
    /// none.
    case refused(symbol: String?, text: String)
    /// Another error, in the venue's own words.
    case error(String)
    /// The venue is about to close its connections (Binance's `serverShutdown`).
    case closing
    /// A well-formed message of another kind.
    case other
    /// Bytes that are not a message of the dialect.
    case malformed

    /// The largest length of a venue's words, in bytes; a longer text is cut.
    package static var maximumTextLength: Int { 1_024 }

    /// What a reader of the tape needs to know of it.
    package var content: FrameContent {
        switch self {
        case .trades(let skipped): .trades(skipped: skipped)
        case .heartbeat, .alive, .service, .acknowledged, .subscribed, .unsubscribed, .refused, .error, .closing,
            .other:
            .other
        case .malformed: .malformed
        }
    }
}
