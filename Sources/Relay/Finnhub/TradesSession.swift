import Ingest
import Market
import Wire

/// The subscriptions of one client of Finnhub's protocol, and the answers to its requests.
struct TradesSession {
    enum Action: Equatable {
        /// The client has subscribed to a symbol.
        case subscribed
        /// The client has unsubscribed a symbol.
        case gaveUp(String)
        /// An error with Finnhub's wording.
        case refuse(String)
        case nothing
    }

    /// Finnhub's error for too many symbols on one connection. Finnhub does not name the symbol; the relay adds its
    /// name (``tooMany(_:)``), as Finnhub does with `Invalid symbol`.
    static let tooManySymbols = "Subscribing to too many symbols"

    private(set) var symbols: Set<String> = []
    /// The symbols whose refusal was reported to the client.
    private var reportedRefused: Set<String> = []
    private let limit: Int

    init(symbolLimit: Int) { self.limit = symbolLimit }

    /// Takes in a request.
    ///
    /// - Parameter subscribe: adds the client's subscription to those of all clients.
    mutating func received(
        _ request: FinnhubRequest?,
        subscribe: (String) -> SubscriptionTable.Answer
    ) -> Action {
        switch request {
        case .subscribe(let symbol):
            // A repeated subscription changes nothing, as with Finnhub.
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
            return .nothing  // news and press releases are not relayed; Finnhub, too, ignores what a plan lacks
        case nil:
            return .refuse("Invalid message")
        }
    }

    /// Notes that the upstream refuses a symbol. Returns whether to report this to the client: once per refusal, if it
    /// is subscribed to the symbol.
    mutating func refused(_ symbol: String) -> Bool {
        self.symbols.contains(symbol) && self.reportedRefused.insert(symbol).inserted
    }

    /// Notes that the upstream sends a symbol again.
    mutating func accepted(_ symbol: String) { self.reportedRefused.remove(symbol) }

    /// Ends the session; returns the symbols to which it was subscribed.
    mutating func left() -> Set<String> {
        defer {
            self.symbols = []
            self.reportedRefused = []
        }
        return self.symbols
    }

    static func invalid(_ symbol: String) -> String { "Invalid symbol \(SymbolName.excerpt(of: symbol))" }

    static func tooMany(_ symbol: String) -> String {
        "\(Self.tooManySymbols): \(SymbolName.excerpt(of: symbol))"
    }
}
