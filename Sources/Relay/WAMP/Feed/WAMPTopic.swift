import HTTP
import Market

/// A topic of the feed. Their URIs begin with `tickertape.`, where no client publishes.
enum WAMPTopic: Hashable {
    /// The settled prices of a symbol.
    case price(String)
    /// Every trade of a symbol.
    case trades(String)
    case status
    case gap

    /// The first component of all topics and procedures of this program.
    static let root = "tickertape"
    static let prices: [Substring] = [Substring(WAMPTopic.root), "price"]
    static let trades: [Substring] = [Substring(WAMPTopic.root), "trades"]

    /// Returns whether a URI belongs to this program.
    static func isOurs(_ uri: String) -> Bool { WAMPURI.components(uri).first.map(String.init) == Self.root }

    /// Returns whether a URI is reserved for the protocol.
    static func isReserved(_ uri: String) -> Bool { WAMPURI.components(uri).first == "wamp" }

    /// - Throws: ``WAMPFailure`` if there is no such topic, or its symbol cannot exist.
    init(_ uri: String) throws(WAMPFailure) {
        let components = WAMPURI.components(uri)
        if uri == Self.status.uri {
            self = .status
        } else if uri == Self.gap.uri {
            self = .gap
        } else if components.starts(with: Self.prices), components.count > Self.prices.count {
            self = .price(try Self.symbol(components.dropFirst(Self.prices.count)))
        } else if components.starts(with: Self.trades), components.count > Self.trades.count {
            self = .trades(try Self.symbol(components.dropFirst(Self.trades.count)))
        } else {
            throw .noSuchTopic
        }
    }

    private static func symbol(_ components: ArraySlice<Substring>) throws(WAMPFailure) -> String {
        guard components.count == 1, let component = components.first else {
            throw WAMPFailure(.invalidURI, "write a dot in a symbol as %2E")
        }
        guard let symbol = PercentText.decoded(component) else {
            throw WAMPFailure(.invalidURI, "write a percent sign in a symbol as %25")
        }
        guard SymbolName.isValid(symbol) else { throw WAMPFailure(.invalidURI, SymbolErrors.invalid(symbol)) }
        return symbol
    }

    /// The URI, which is the same for every spelling of its symbol.
    var uri: String {
        switch self {
        case .price(let symbol): "\(Self.root).price.\(WAMPURI.component(symbol))"
        case .trades(let symbol): "\(Self.root).trades.\(WAMPURI.component(symbol))"
        case .status: "\(Self.root).status"
        case .gap: "\(Self.root).gap"
        }
    }

    /// The symbol that a subscription to the topic subscribes to upstream.
    var symbol: String? {
        switch self {
        case .price(let symbol), .trades(let symbol): symbol
        case .status, .gap: nil
        }
    }
}

extension WAMPFailure {
    static let noSuchTopic = WAMPFailure(
        .noSuchTopic,
        "the topics here are tickertape.price.SYMBOL, tickertape.trades.SYMBOL, tickertape.status and tickertape.gap"
    )
}
