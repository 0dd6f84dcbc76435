/// The status of one symbol of a feed: subscribed, trading, quiet or refused.
package struct SymbolStatus: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        /// Subscribed; neither a trade nor a refusal has arrived yet. The service acknowledges nothing.
        case asked
        /// Trades arrive.
        case live
        /// Subscribed, but without a trade for longer than the symbol's threshold.
        case quiet
        /// The service does not send the symbol. The feed subscribes to it again at `retryAt` (wall clock, ns since
        /// 1970).
        case refused(Refusal, retryAt: Int64)
    }

    /// The reason why the service does not send a symbol.
    package enum Refusal: Sendable, Equatable {
        /// The service knows no such symbol.
        case noSuchSymbol
        /// The key's plan does not cover the symbol.
        case notPermitted
        /// The symbol exceeds the number that the key's plan allows.
        case overLimit
    }

    /// The symbol that was probably meant if the service knows no such symbol; `nil` if its name suggests none.
    package var meant: String? {
        guard case .refused(.noSuchSymbol, _) = self.state else { return nil }
        return SymbolHint.meant(by: self.symbol)
    }

    package var symbol: String
    package var state: State
    /// The start of the state, wall clock, ns since 1970.
    package var since: Int64
    /// The reason in one line, for a refusal in the service's words. Never contains a key.
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

    /// The symbol with its state and the reason, as a line has it.
    package var sentence: String {
        var text = "\(SymbolName.word(self.symbol)) \(self.word)"
        if let reason = self.reason { text += ": \(ScreenText.clean(reason, columns: 256))" }
        if case .refused(_, let retryAt) = self.state, retryAt > self.since {
            text += ", asked again in \(AgeText.record(retryAt - self.since))"
        }
        return text
    }
}
