package import Market
package import Wire

/// The subscriptions of one client of the mock server, and the answers to its requests.
///
/// It behaves as the real service is known to: no acknowledgement, errors with its texts, a limit of symbols.
package struct MockServerSession: Sendable {
    /// The answer to a request.
    package enum Answer: Sendable, Equatable {
        case none
        case error(String)
    }

    /// The part of a frame that goes to the client.
    package enum Selection: Sendable, Equatable {
        case everything
        case some([Trade])
        case nothing
    }

    /// The recording's symbols if all are known, so that any other is invalid; otherwise `nil`.
    private let known: Set<String>?
    private let limit: Int
    package private(set) var subscribed: Set<String> = []

    package init(known: Set<String>?, limit: Int) {
        self.known = known
        self.limit = limit
    }

    /// Takes a request; returns its answer.
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
        case .resume, .other, nil:
            break
        }
        return .none
    }

    /// Returns the part of a frame's trades to which the client has subscribed.
    package func select(_ trades: [Trade], symbols: SymbolTable) -> Selection {
        var wanted = 0
        for trade in trades where self.subscribed.contains(symbols.name(of: trade.symbol)) { wanted += 1 }
        if wanted == trades.count { return .everything }
        if wanted == 0 { return .nothing }
        return .some(trades.filter { self.subscribed.contains(symbols.name(of: $0.symbol)) })
    }
}
