import HTTP
package import Market
package import NIOCore
package import Wire

/// A client's session in Binance's protocol (binance-spot-api-docs, web-socket-streams.md).
///
/// Every stream's name is acknowledged, and a wrong one stays silent. A client that sends more than five messages in a
/// second, pings and pongs included, or answers no ping for a minute, is disconnected.
package struct BinanceMockSession: MockSession {
    /// The most streams of a connection.
    package static let maximumStreams = 1_024
    /// The interval of pings, and the time within which one must be answered, ns.
    package static let pingInterval: Int64 = 20_000_000_000
    package static let pongTimeout: Int64 = 60_000_000_000

    private let hasKeepalive: Bool
    private let wallClock: @Sendable () -> Int64
    /// Whether the stream's name is around each event.
    private var isCombined: Bool
    /// The streams, as the client wrote them, in their order.
    private var streams: [String] = []
    /// The symbols of the streams of trades, as the tape names them.
    private var subscribed: Set<String> = []
    private var messages = RollingLimit(count: 5, window: 1_000_000_000)
    private var nextPing: Int64?
    /// The payload of the oldest ping without an answer, and when the connection is cut for it.
    private var unanswered: (payload: ByteBuffer, until: Int64)?
    private var isOver = false

    package init(_ opening: MockSessionOpening) {
        self.hasKeepalive = opening.hasKeepalive
        self.wallClock = opening.wallClock
        self.isCombined = opening.uri.hasPrefix("/stream")
        for name in Self.names(in: opening.uri).prefix(Self.maximumStreams) { self.add(name) }
    }

    package var dialect: FrameDialect { .binance }
    package var isSubscribed: Bool { !self.streams.isEmpty }
    package var deadline: Int64? {
        guard !self.isOver, let nextPing else { return nil }
        return min(nextPing, self.unanswered?.until ?? .max)
    }

    package func isSubscribed(to symbol: String) -> Bool { self.subscribed.contains(symbol) }

    package mutating func opened(now: Int64) -> [MockOutput] {
        if self.hasKeepalive { self.nextPing = now + Self.pingInterval }
        return []
    }

    package mutating func received(_ text: ByteBuffer, recent: RecentTrades, now: Int64) -> [MockOutput] {
        if let excess = self.count(now: now) { return excess }
        guard let request = VenueRequestReader(text) else {
            return [.text(BinanceEncoder.error(code: 3, "Invalid JSON: expected value at line 1 column 1"))]
        }
        return [.text(self.answer(to: request))]
    }

    package mutating func pingReceived(now: Int64) -> [MockOutput] { self.count(now: now) ?? [] }

    /// A pong counts as an answer only if it has the ping's payload.
    package mutating func pongReceived(_ payload: ByteBuffer, now: Int64) -> [MockOutput] {
        if let excess = self.count(now: now) { return excess }
        if payload == self.unanswered?.payload { self.unanswered = nil }
        return []
    }

    package mutating func timeReached(recent: RecentTrades, now: Int64) -> [MockOutput] {
        guard let nextPing, !self.isOver else { return [] }
        if let unanswered, now >= unanswered.until { return self.end("no pong for 60 s") }
        guard now >= nextPing else { return [] }
        self.nextPing = now + Self.pingInterval
        let payload = ByteBuffer(string: "\(self.wallClock() / 1_000_000)")
        // The oldest ping decides. Later ones repeat its payload, so that an answer to any of them counts.
        let sent = self.unanswered?.payload ?? payload
        if self.unanswered == nil { self.unanswered = (sent, now + Self.pongTimeout) }
        return [.ping(sent)]
    }

    package func form(of frame: ByteBuffer, symbol: String?) -> ByteBuffer {
        guard self.isCombined else { return BinanceEncoder.raw(frame) }
        guard let symbol else { return frame }
        return BinanceEncoder.combined(frame, stream: BinanceEncoder.stream(of: Venue.binance.native(of: symbol)))
    }

    package func encode(_ trades: [Trade], of frame: ByteBuffer?, symbols: SymbolTable) -> [ByteBuffer] {
        trades.map { BinanceEncoder.trade($0, symbols: symbols, isCombined: self.isCombined) }
    }

    // MARK: Requests

    private mutating func answer(to request: VenueRequestReader) -> ByteBuffer {
        if request.hasBadID {
            return BinanceEncoder.error(code: 2, "Invalid request: request ID must be an unsigned integer")
        }
        switch request.verb {
        case "SUBSCRIBE":
            let new = Set(request.names).subtracting(self.streams)
            guard self.streams.count + new.count <= Self.maximumStreams else {
                return BinanceEncoder.error(code: 2, "Invalid request: too many streams, at most 1024")
            }
            for name in request.names { self.add(name) }
            return BinanceEncoder.acknowledgement(id: request.id)
        case "UNSUBSCRIBE":
            for name in request.names { self.remove(name) }
            return BinanceEncoder.acknowledgement(id: request.id)
        case "LIST_SUBSCRIPTIONS":
            return BinanceEncoder.list(self.streams, id: request.id)
        case "SET_PROPERTY":
            guard request.names == ["combined"], let flag = request.flag else {
                return BinanceEncoder.error(code: 0, "Unknown property")
            }
            self.isCombined = flag
            return BinanceEncoder.acknowledgement(id: request.id)
        case "GET_PROPERTY":
            guard request.names == ["combined"] else { return BinanceEncoder.error(code: 0, "Unknown property") }
            return BinanceEncoder.property(self.isCombined, id: request.id)
        case .some(let verb):
            return BinanceEncoder.error(
                code: 2,
                "Invalid request: unknown variant \(verb.prefix(64)), expected one of `SUBSCRIBE`, `UNSUBSCRIBE`, "
                    + "`LIST_SUBSCRIPTIONS`, `SET_PROPERTY`, `GET_PROPERTY` at line 1 column 28"
            )
        case nil:
            return BinanceEncoder.error(code: 2, "Invalid request: missing field `method` at line 1 column 73")
        }
    }

    private mutating func add(_ stream: String) {
        guard !self.streams.contains(stream) else { return }
        self.streams.append(stream)
        if let symbol = Self.symbol(of: stream) { self.subscribed.insert(symbol) }
    }

    private mutating func remove(_ stream: String) {
        self.streams.removeAll { $0 == stream }
        if let symbol = Self.symbol(of: stream) { self.subscribed.remove(symbol) }
    }

    /// Returns the symbol of a stream of trades, as the tape names it; `nil` for another stream and for one with a letter
    /// in upper case, which the service acknowledges and never sends.
    private static func symbol(of stream: String) -> String? {
        let end = "@trade"
        guard stream.hasSuffix(end), stream.utf8.count > end.utf8.count else { return nil }
        let name = stream.dropLast(end.count)
        guard !name.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else { return nil }
        let upper = name.utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & 0xDF : $0 }
        return Venue.binance.symbol(of: String(decoding: upper, as: UTF8.self))
    }

    /// Returns the streams in a request's address: `/stream?streams=a@trade/b@trade` or `/ws/a@trade`.
    private static func names(in uri: String) -> [String] {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var text: Substring = ""
        if parts[0].hasPrefix("/ws/") {
            text = parts[0].dropFirst("/ws/".count)
        } else if parts.count == 2 {
            let pair = parts[1].split(separator: "&").first { $0.hasPrefix("streams=") }
            text = pair?.dropFirst("streams=".count) ?? ""
        }
        return text.split(separator: "/").map { PercentText.decoded($0) ?? String($0) }
    }

    // MARK: Limits

    /// Counts a message of the client; returns the end of the connection if there are too many.
    private mutating func count(now: Int64) -> [MockOutput]? {
        guard !self.isOver else { return [] }
        // Only a server for other programs keeps connections alive, and limits them.
        guard self.hasKeepalive, self.messages.exceeds(now: now) else { return nil }
        return self.end("more than 5 messages in a second")
    }

    private mutating func end(_ reason: String) -> [MockOutput] {
        self.isOver = true
        return [.disconnect(reason: reason)]
    }
}
