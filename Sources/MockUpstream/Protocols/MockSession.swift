package import Market
package import NIOCore
package import WebSocket
package import Wire

/// What a session of a mock server needs to begin.
package struct MockSessionOpening: Sendable {
    /// The material's symbols if all are known, so that any other is invalid; otherwise `nil`.
    package var known: Set<String>?
    /// The most symbols of a connection, for an upstream whose limit can be chosen.
    package var symbolLimit: Int
    /// The interval of the upstream's text ping, ns, for an upstream that has one; `nil` sends none.
    package var pingInterval: Int64?
    /// Whether the upstream's pings of the WebSocket are sent; not to a client that may stop reading for long.
    package var hasKeepalive: Bool
    /// Whether the upstream's heartbeats are sent that the recording lacks.
    package var hasHeartbeats: Bool
    /// The path and query of the request.
    package var uri: String
    /// Returns ns since 1970.
    package var wallClock: @Sendable () -> Int64

    package init(
        known: Set<String>?,
        symbolLimit: Int = 50,
        pingInterval: Int64? = nil,
        hasKeepalive: Bool = true,
        hasHeartbeats: Bool = true,
        uri: String = "/",
        wallClock: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        self.known = known
        self.symbolLimit = symbolLimit
        self.pingInterval = pingInterval
        self.hasKeepalive = hasKeepalive
        self.hasHeartbeats = hasHeartbeats
        self.uri = uri
        self.wallClock = wallClock
    }
}

/// What a session sends or does.
package enum MockOutput: Sendable, Equatable {
    case text(ByteBuffer)
    /// A ping of the WebSocket with this payload.
    case ping(ByteBuffer)
    case close(WebSocketCloseCode, reason: String)
    /// The client has broken a rule of the upstream, and is disconnected without a close frame.
    case disconnect(reason: String)
}

/// The part of a frame's trades that goes to the client.
package enum MockSelection: Sendable, Equatable {
    case everything
    case some([Trade])
    case nothing
}

/// The subscriptions of one client of a mock server, the answers to its requests, and what the upstream sends by itself:
/// a state machine in one upstream's protocol.
///
/// `now` is monotonic ns. The owner calls ``timeReached(recent:now:)`` when ``deadline`` is reached; an early call does
/// nothing.
package protocol MockSession: Sendable {
    /// The dialect of the frames that it takes.
    var dialect: FrameDialect { get }
    /// Whether it has any subscription, with which the replay begins.
    var isSubscribed: Bool { get }
    /// Whether a replay marks the trades that may be repeats, since they have no ids.
    var needsRepeats: Bool { get }
    var deadline: Int64? { get }

    func isSubscribed(to symbol: String) -> Bool
    mutating func opened(now: Int64) -> [MockOutput]
    mutating func received(_ text: ByteBuffer, recent: RecentTrades, now: Int64) -> [MockOutput]
    mutating func pingReceived(now: Int64) -> [MockOutput]
    mutating func pongReceived(_ payload: ByteBuffer, now: Int64) -> [MockOutput]
    mutating func timeReached(recent: RecentTrades, now: Int64) -> [MockOutput]

    /// Returns the part of a message's trades to which the client has subscribed.
    mutating func select(_ message: ReplayMessage, now: Int64) -> MockSelection
    /// Returns whether a recorded frame without trades is passed on.
    mutating func passes(_ frame: ByteBuffer, now: Int64) -> Bool
    /// Returns whether a control frame of the recorded service is passed on.
    mutating func passes(_ signal: RecordedSignal, now: Int64) -> Bool
    /// Returns a recorded frame in the form that this client gets.
    func form(of frame: ByteBuffer, symbol: String?) -> ByteBuffer
    /// Creates frames of trades in the form that this client gets.
    ///
    /// - Parameter frame: the recorded frame of which the trades are a part; `nil` if their times were moved.
    func encode(_ trades: [Trade], of frame: ByteBuffer?, symbols: SymbolTable) -> [ByteBuffer]
}

extension MockSession {
    package var needsRepeats: Bool { false }
    package mutating func pingReceived(now: Int64) -> [MockOutput] { [] }
    package mutating func pongReceived(_ payload: ByteBuffer, now: Int64) -> [MockOutput] { [] }
    package mutating func passes(_ frame: ByteBuffer, now: Int64) -> Bool { false }
    package mutating func passes(_ signal: RecordedSignal, now: Int64) -> Bool { false }
    package func form(of frame: ByteBuffer, symbol: String?) -> ByteBuffer { frame }

    package mutating func select(_ message: ReplayMessage, now: Int64) -> MockSelection {
        self.select(message.trades, symbols: message.symbols)
    }

    /// Returns the part of the trades to which the client has subscribed.
    package func select(_ trades: [Trade], symbols: SymbolTable) -> MockSelection {
        var wanted = 0
        for trade in trades where self.isSubscribed(to: symbols.name(of: trade.symbol)) { wanted += 1 }
        if wanted == trades.count { return .everything }
        if wanted == 0 { return .nothing }
        return .some(trades.filter { self.isSubscribed(to: symbols.name(of: $0.symbol)) })
    }
}
