import Ingest
import Market
import Wire

/// What one client of Finnhub's protocol has asked for, and what its requests are answered.
struct TradesSession {
    enum Action: Equatable {
        /// The client has subscribed to a symbol.
        case subscribed
        /// The client has given up a symbol.
        case gaveUp(String)
        /// An error in Finnhub's words.
        case refuse(String)
        case nothing
    }

    /// The words of Finnhub where one connection asks for too many symbols. It does not say which one was too many; the
    /// relay adds the name (``tooMany(_:)``), as Finnhub does with `Invalid symbol`.
    static let tooManySymbols = "Subscribing to too many symbols"

    private(set) var symbols: Set<String> = []
    /// Those that the client has been told the upstream does not send.
    private var reportedRefused: Set<String> = []
    private let limit: Int

    init(symbolLimit: Int) { self.limit = symbolLimit }

    /// Takes in a request.
    ///
    /// - Parameter subscribe: subscribes the client to a symbol, beside those of all others.
    mutating func received(
        _ request: FinnhubRequest?,
        subscribe: (String) -> SubscriptionTable.Answer
    ) -> Action {
        switch request {
        case .subscribe(let symbol):
            // Asking again for what one has changes nothing, as there.
            if self.symbols.contains(symbol) { return .nothing }
            guard self.symbols.count < self.limit else { return .refuse(Self.tooMany(symbol)) }
            switch subscribe(symbol) {
            case .invalid:
                return .refuse(Self.invalid(symbol))
            case .full:
                return .refuse(Self.tooMany(symbol))
            case .accepted:
                self.symbols.insert(symbol)
                return .subscribed
            }
        case .unsubscribe(let symbol):
            self.reportedRefused.remove(symbol)
            return self.symbols.remove(symbol) == nil ? .nothing : .gaveUp(symbol)
        case .other:
            return .nothing  // news and press releases are not relayed; Finnhub is as silent about what a plan lacks
        case nil:
            return .refuse("Invalid message")
        }
    }

    /// Takes in that the upstream does not send a symbol; returns whether the client, who has asked for it and still
    /// does, is to be told: once, until the symbol comes.
    mutating func refused(_ symbol: String) -> Bool {
        self.symbols.contains(symbol) && self.reportedRefused.insert(symbol).inserted
    }

    /// Takes in that the upstream sends a symbol again.
    mutating func accepted(_ symbol: String) { self.reportedRefused.remove(symbol) }

    /// Takes in that the client is gone; returns what it had asked for.
    mutating func left() -> Set<String> {
        defer {
            self.symbols = []
            self.reportedRefused = []
        }
        return self.symbols
    }

    static func invalid(_ symbol: String) -> String { "Invalid symbol \(symbol.prefix(SymbolName.longest))" }

    static func tooMany(_ symbol: String) -> String {
        "\(Self.tooManySymbols): \(symbol.prefix(SymbolName.longest))"
    }
}
