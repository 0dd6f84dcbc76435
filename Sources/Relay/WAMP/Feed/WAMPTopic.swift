import HTTP
import Market

/// A topic of the feed, or a room. Their URIs begin with `tickertape.`, where clients publish to rooms only.
enum WAMPTopic: Hashable {
    /// The settled prices of a symbol.
    case price(String)
    /// Every trade of a symbol.
    case trades(String)
    case status
    case gap
    case room(String)

    /// The first component of all topics and procedures of this program.
    static let root = "tickertape"
    static let prices: [Substring] = [Substring(WAMPTopic.root), "price"]
    static let trades: [Substring] = [Substring(WAMPTopic.root), "trades"]
    static let rooms: [Substring] = [Substring(WAMPTopic.root), "room"]

    /// Returns whether a URI belongs to this program.
    static func isOurs(_ uri: String) -> Bool { WAMPURI.components(uri).first.map(String.init) == Self.root }

    /// Returns whether a URI is reserved for the protocol.
    static func isReserved(_ uri: String) -> Bool { WAMPURI.components(uri).first == "wamp" }

    /// - Throws: ``WAMPFailure`` if there is no such topic, or its symbol or room cannot exist.
    init(_ uri: String, hasRooms: Bool = false) throws(WAMPFailure) {
        let components = WAMPURI.components(uri)
        if uri == Self.status.uri {
            self = .status
        } else if uri == Self.gap.uri {
            self = .gap
        } else if components.starts(with: Self.prices), components.count > Self.prices.count {
            self = .price(try Self.symbol(components.dropFirst(Self.prices.count)))
        } else if components.starts(with: Self.trades), components.count > Self.trades.count {
            self = .trades(try Self.symbol(components.dropFirst(Self.trades.count)))
        } else if hasRooms, components.starts(with: Self.rooms), components.count > Self.rooms.count {
            self = .room(try Self.room(components.dropFirst(Self.rooms.count)))
        } else {
            throw .noSuchTopic
        }
    }

    private static func symbol(_ components: ArraySlice<Substring>) throws(WAMPFailure) -> String {
        let symbol = try Self.name(components)
        guard SymbolName.isValid(symbol) else { throw WAMPFailure(.invalidURI, SymbolErrors.invalid(symbol)) }
        return symbol
    }

    private static func room(_ components: ArraySlice<Substring>) throws(WAMPFailure) -> String {
        let room = try Self.name(components)
        if let fault = RoomName.fault(in: room) { throw WAMPFailure(.invalidURI, fault.words) }
        return room
    }

    private static func name(_ components: ArraySlice<Substring>) throws(WAMPFailure) -> String {
        guard components.count == 1, let component = components.first else {
            throw WAMPFailure(.invalidURI, "write a dot in a name as %2E")
        }
        guard let name = PercentText.decoded(component) else {
            throw WAMPFailure(.invalidURI, "write a percent sign in a name as %25")
        }
        return name
    }

    /// The URI, which is the same for every spelling of its symbol.
    var uri: String {
        switch self {
        case .price(let symbol): "\(Self.root).price.\(WAMPURI.component(symbol))"
        case .trades(let symbol): "\(Self.root).trades.\(WAMPURI.component(symbol))"
        case .status: "\(Self.root).status"
        case .gap: "\(Self.root).gap"
        case .room(let room): "\(Self.root).room.\(WAMPURI.component(room))"
        }
    }

    /// The symbol that a subscription to the topic subscribes to upstream.
    var symbol: String? {
        switch self {
        case .price(let symbol), .trades(let symbol): symbol
        case .status, .gap, .room: nil
        }
    }
}

extension WAMPFailure {
    static let noSuchTopic = WAMPFailure(
        .noSuchTopic,
        "the topics here are tickertape.price.SYMBOL, tickertape.trades.SYMBOL, tickertape.status and tickertape.gap"
    )
}
