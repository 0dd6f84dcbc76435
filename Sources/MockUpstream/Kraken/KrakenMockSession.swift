package import Market
package import NIOCore
import WebSocket
package import Wire

/// A client's session in Kraken's WebSocket API, version 2 (docs.kraken.com, exchange/api-reference/spot-websocket-v2).
///
/// Each pair of a request has its own answer. A connection with subscriptions on which nothing else was sent for a second
/// gets a heartbeat; one without is closed after a minute without a request.
package struct KrakenMockSession: MockSession {
    /// The interval of heartbeats, and the time after which an idle connection is closed, ns.
    package static let heartbeatInterval: Int64 = 1_000_000_000
    package static let idleTimeout: Int64 = 60_000_000_000
    /// The most pairs of a connection; this bounds what one client can make the server keep.
    package static let maximumPairs = 4_096

    private let known: Set<String>?
    private let hasHeartbeats: Bool
    private let wallClock: @Sendable () -> Int64
    /// The pairs, by the tape's names of their symbols.
    private var pairs: [String: String] = [:]
    private var lastSent: Int64 = 0
    private var lastRequest: Int64 = 0
    private var isOver = false

    package init(_ opening: MockSessionOpening) {
        self.known = opening.known
        self.hasHeartbeats = opening.hasHeartbeats
        self.wallClock = opening.wallClock
    }

    package var dialect: FrameDialect { .kraken }
    package var isSubscribed: Bool { !self.pairs.isEmpty }
    package var deadline: Int64? {
        if self.isOver { return nil }
        guard self.isSubscribed else { return self.lastRequest + Self.idleTimeout }
        return self.hasHeartbeats ? self.lastSent + Self.heartbeatInterval : nil
    }

    package func isSubscribed(to symbol: String) -> Bool { self.pairs[symbol] != nil }

    package mutating func opened(now: Int64) -> [MockOutput] {
        (self.lastSent, self.lastRequest) = (now, now)
        // The service's numbers exceed 2^63.
        let connection = 1 << 63 | UInt64(bitPattern: self.wallClock()) >> 1
        return [.text(KrakenAnswerEncoder.status(connection: connection))]
    }

    package mutating func received(_ text: ByteBuffer, recent: RecentTrades, now: Int64) -> [MockOutput] {
        guard !self.isOver else { return [] }
        (self.lastSent, self.lastRequest) = (now, now)
        let at = self.wallClock()
        guard let request = VenueRequestReader(text), let verb = request.verb else {
            return [.text(KrakenAnswerEncoder.refusal("Malformed request", method: nil, request: nil, at: at))]
        }
        switch verb {
        case "ping": return [.text(KrakenAnswerEncoder.pong(request: request.number, at: at))]
        case "subscribe", "unsubscribe":
            guard request.channels.first?.name == "trade" else {
                return [Self.refusal("Channel not supported", request, at: at)]
            }
            guard !request.products.isEmpty else { return [Self.refusal("Symbol(s) not found", request, at: at)] }
            return verb == "subscribe"
                ? self.subscribe(request, recent: recent, at: at) : self.unsubscribe(request, at: at)
        default:
            return [Self.refusal("Method not supported", request, at: at)]
        }
    }

    package mutating func timeReached(recent: RecentTrades, now: Int64) -> [MockOutput] {
        guard let deadline, now >= deadline else { return [] }
        if self.isSubscribed {
            self.lastSent = now
            return [.text(KrakenAnswerEncoder.heartbeat)]
        }
        self.isOver = true
        return [.close(.normal, reason: "idle")]
    }

    package mutating func select(_ message: ReplayMessage, now: Int64) -> MockSelection {
        let selection = self.select(message.trades, symbols: message.symbols)
        if selection != .nothing { self.lastSent = now }
        return selection
    }

    package func encode(_ trades: [Trade], of frame: ByteBuffer?, symbols: SymbolTable) -> [ByteBuffer] {
        if let frame { return KrakenMock().cut(frame, to: trades, symbols: symbols).map { [$0] } ?? [] }
        return [KrakenEncoder.trades(trades, symbols: symbols, pair: self.pair(of:))]
    }

    private func pair(of symbol: String) -> String { self.pairs[symbol] ?? KrakenMock.pair(of: symbol) }

    // MARK: Requests

    private mutating func subscribe(
        _ request: VenueRequestReader,
        recent: RecentTrades,
        at: Int64
    ) -> [MockOutput] {
        var outputs: [MockOutput] = []
        for pair in request.products {
            let symbol = Venue.kraken.symbol(of: pair)
            guard self.isPair(pair), self.known?.contains(symbol) ?? true else {
                outputs.append(Self.refusal("Currency pair not supported \(pair)", request, pair: pair, at: at))
                continue
            }
            guard self.pairs[symbol] == nil else {
                outputs.append(Self.refusal("Already subscribed", request, pair: pair, at: at))
                continue
            }
            guard self.pairs.count < Self.maximumPairs else {
                outputs.append(Self.refusal("Exceeded max subscriptions", request, pair: pair, at: at))
                continue
            }
            self.pairs[symbol] = pair
            let snapshot = request.snapshot ?? false
            outputs.append(
                .text(
                    KrakenAnswerEncoder.done(
                        "subscribe",
                        pair: pair,
                        snapshot: snapshot,
                        request: request.number,
                        at: at
                    )
                )
            )
            guard snapshot else { continue }
            let trades = recent.trades(of: symbol)
            outputs.append(
                .text(
                    KrakenEncoder.trades(trades, as: .snapshot, symbols: recent.symbols, pair: self.pair(of:))
                )
            )
        }
        return outputs
    }

    private mutating func unsubscribe(_ request: VenueRequestReader, at: Int64) -> [MockOutput] {
        request.products.map { pair in
            guard self.pairs.removeValue(forKey: Venue.kraken.symbol(of: pair)) != nil else {
                return Self.refusal("Subscription Not Found", request, pair: pair, at: at)
            }
            return .text(
                KrakenAnswerEncoder.done("unsubscribe", pair: pair, snapshot: nil, request: request.number, at: at)
            )
        }
    }

    /// Returns whether a name has the form of the API's version 2: two assets in upper case, by their ISO names.
    private func isPair(_ name: String) -> Bool {
        let assets = name.split(separator: "/", omittingEmptySubsequences: false)
        return assets.count == 2
            && assets.allSatisfy { asset in
                !asset.isEmpty && asset != "XBT" && asset != "XDG"
                    && !asset.utf8.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            }
    }

    private static func refusal(
        _ text: String,
        _ request: VenueRequestReader,
        pair: String? = nil,
        at: Int64
    ) -> MockOutput {
        .text(
            KrakenAnswerEncoder.refusal(text, method: request.verb, pair: pair, request: request.number, at: at)
        )
    }
}
