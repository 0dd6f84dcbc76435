import Market
import NIOCore
import Wire

/// A call of a procedure of this program, with its arguments. Each may be given by its place or by its name.
enum WAMPProcedure: Equatable {
    /// The newest price of a symbol, or of all.
    case snapshot(String?)
    /// The symbols that are subscribed upstream.
    case symbols
    /// The newest trades of a symbol.
    case trades(String, limit: Int)
    /// The newest bars of a symbol.
    case bars(String, BarWidth, limit: Int)
    /// The users and the newest messages of a room.
    case room(String)

    /// - Parameter hasRooms: whether there are rooms.
    /// - Throws: ``WAMPFailure`` if there is no such procedure, or an argument is not valid.
    init(_ name: String, _ payload: WAMPPayload, hasRooms: Bool = false) throws(WAMPFailure) {
        switch name {
        case "tickertape.snapshot": self = .snapshot(try Self.symbol(payload))
        case "tickertape.symbols": self = .symbols
        case "tickertape.trades":
            self = .trades(
                try Self.needed(Self.symbol(payload)),
                limit: try Self.limit(payload, 1, usual: RelayRouter.usualTrades)
            )
        case "tickertape.bars":
            self = .bars(
                try Self.needed(Self.symbol(payload)),
                try Self.width(payload),
                limit: try Self.limit(payload, 2, usual: BarQuery.usualBars)
            )
        case "tickertape.room" where hasRooms: self = .room(try Self.room(payload))
        case _:
            throw WAMPFailure(
                .noSuchProcedure,
                "the procedures here are tickertape.snapshot, tickertape.symbols, tickertape.trades and tickertape.bars"
            )
        }
    }

    /// The cost of the call beyond that of an ordinary request.
    ///
    /// - Parameters:
    ///   - symbols: the number of symbols that the relay knows.
    ///   - cost: returns the cost of a room's state.
    func cost(symbols: Int, ofRoom cost: (String) -> Int) -> Int {
        switch self {
        case .snapshot(_?): 0
        case .snapshot(nil), .symbols: symbols / WAMPLimits.answeredPerRequest
        case .trades(_, let limit), .bars(_, _, let limit): limit / WAMPLimits.answeredPerRequest
        case .room(let name): cost(name)
        }
    }

    // MARK: Arguments

    private static func symbol(_ payload: WAMPPayload) throws(WAMPFailure) -> String? {
        guard let value = payload.value(0, or: "symbol") else { return nil }
        guard let symbol = value.text, SymbolName.isValid(symbol) else {
            throw WAMPFailure(.invalidArgument, SymbolErrors.invalid(value.text ?? ""))
        }
        return symbol
    }

    private static func needed(_ symbol: String?) throws(WAMPFailure) -> String {
        guard let symbol else { throw WAMPFailure(.invalidArgument, "the first argument is a symbol") }
        return symbol
    }

    private static func room(_ payload: WAMPPayload) throws(WAMPFailure) -> String {
        guard let room = payload.value(0, or: "room")?.text else {
            throw WAMPFailure(.invalidArgument, "the first argument is a room's name")
        }
        if let fault = RoomName.fault(in: room) { throw WAMPFailure(.invalidArgument, fault.words) }
        return room
    }

    private static func width(_ payload: WAMPPayload) throws(WAMPFailure) -> BarWidth {
        guard let value = payload.value(1, or: "width") else { return .minute }
        guard let width = value.text.flatMap({ BarWidth(word: $0) }) else {
            throw WAMPFailure(.invalidArgument, "width must be one of \(BarWidth.words)")
        }
        return width
    }

    private static func limit(_ payload: WAMPPayload, _ place: Int, usual: Int) throws(WAMPFailure) -> Int {
        guard let value = payload.value(place, or: "limit") else { return usual }
        guard let limit = value.integer, (1...Int64(WAMPLimits.answered)).contains(limit) else {
            throw WAMPFailure(.invalidArgument, "limit must be a whole number from 1 to \(WAMPLimits.answered)")
        }
        return Int(limit)
    }
}
