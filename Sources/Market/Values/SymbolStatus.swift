/// What is true of one symbol of a feed: asked for, trading, quiet or refused.
package struct SymbolStatus: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        /// Asked for; neither a trade nor a refusal has come yet. The service acknowledges nothing.
        case asked
        /// Trades come.
        case live
        /// No trade for longer than its threshold, though it is asked for.
        case quiet
        /// The service does not send it; it is asked for again at `retryAt` (wall clock, ns since 1970).
        case refused(Refusal, retryAt: Int64)
    }

    /// Why the service does not send a symbol.
    package enum Refusal: Sendable, Equatable {
        /// It knows no such symbol.
        case noSuchSymbol
        /// The key's plan does not cover it.
        case notPermitted
        /// It is one more than the key's plan allows.
        case overLimit
    }

    package var symbol: String
    package var state: State
    /// When the state began, wall clock, ns since 1970.
    package var since: Int64
    /// Why, in one line: the service's words for a refusal. Never holds a key.
    package var reason: String?

    package init(symbol: String, state: State, since: Int64, reason: String? = nil) {
        self.symbol = symbol
        self.state = state
        self.since = since
        self.reason = reason
    }

    /// Whether the service does not send the symbol.
    package var isRefused: Bool {
        switch self.state {
        case .refused: true
        case .asked, .live, .quiet: false
        }
    }

    /// The state as one stable lower-case word for programs.
    package var word: String {
        switch self.state {
        case .asked: "asked"
        case .live: "live"
        case .quiet: "quiet"
        case .refused(.noSuchSymbol, _): "no-such-symbol"
        case .refused(.notPermitted, _): "not-permitted"
        case .refused(.overLimit, _): "over-limit"
        }
    }
}
