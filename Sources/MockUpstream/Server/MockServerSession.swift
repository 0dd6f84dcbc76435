package import Market
package import Wire

/// What the stand-in knows of one client: which symbols it asked for, and what it is answered.
///
/// Behaves as the real service is known to: no acknowledgement, errors by their texts, a limit of symbols.
package struct MockServerSession: Sendable {
    /// The answer to a request.
    package enum Answer: Sendable, Equatable {
        case none
        case error(String)
    }

    /// What of a frame goes to the client.
    package enum Selection: Sendable, Equatable {
        case everything
        case some([Trade])
        case nothing
    }

    /// The recording's symbols where they are all known; another one is then invalid.
    private let known: Set<String>?
    private let limit: Int
    package private(set) var subscribed: Set<String> = []

    package init(known: Set<String>?, limit: Int) {
        self.known = known
        self.limit = limit
    }

    /// Takes a request of the client.
    package mutating func requested(_ request: FinnhubRequest?) -> Answer {
        switch request {
        case .subscribe(let symbol):
            if let known, !known.contains(symbol) { return .error("Invalid symbol \(symbol)") }
            guard self.subscribed.contains(symbol) || self.subscribed.count < self.limit else {
                return .error("Subscribing to too many symbols")
            }
            self.subscribed.insert(symbol)
        case .unsubscribe(let symbol):
            self.subscribed.remove(symbol)
        case .other, nil:
            break
        }
        return .none
    }

    /// Says what of a frame's trades this client asked for.
    package func select(_ trades: [Trade], symbols: SymbolTable) -> Selection {
        var wanted = 0
        for trade in trades where self.subscribed.contains(symbols.name(of: trade.symbol)) { wanted += 1 }
        if wanted == trades.count { return .everything }
        if wanted == 0 { return .nothing }
        return .some(trades.filter { self.subscribed.contains(symbols.name(of: $0.symbol)) })
    }
}
