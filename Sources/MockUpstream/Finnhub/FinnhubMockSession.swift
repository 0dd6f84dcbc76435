package import Market
package import NIOCore
package import Wire

/// A client's session in Finnhub's protocol.
///
/// It behaves as the real service is known to: no acknowledgement, errors with its texts, a limit of symbols, a text
/// ping.
package struct FinnhubMockSession: MockSession {
    /// The answer to a request.
    package enum Answer: Sendable, Equatable {
        case none
        case error(String)
    }

    /// The symbols that are valid; `nil` if any is.
    private let known: Set<String>?
    private let limit: Int
    private let pingInterval: Int64?
    private var nextPing: Int64?
    /// The time of the recording's last ping. While these come, the server adds no pings.
    private var recordedPing: Int64?
    package private(set) var subscribed: Set<String> = []

    package init(_ opening: MockSessionOpening) {
        self.known = opening.known
        self.limit = opening.symbolLimit
        self.pingInterval = opening.pingInterval
    }

    package var dialect: FrameDialect { .finnhub }
    package var isSubscribed: Bool { !self.subscribed.isEmpty }
    package var needsRepeats: Bool { true }
    package var deadline: Int64? { self.nextPing }

    package func isSubscribed(to symbol: String) -> Bool { self.subscribed.contains(symbol) }

    package mutating func opened(now: Int64) -> [MockOutput] {
        self.nextPing = self.pingInterval.map { now + $0 }
        return []
    }

    package mutating func received(_ text: ByteBuffer, recent: RecentTrades, now: Int64) -> [MockOutput] {
        switch self.requested(FinnhubRequest.parse(text)) {
        case .none: []
        case .error(let text): [.text(FinnhubEncoder.error(text))]
        }
    }

    package mutating func timeReached(recent: RecentTrades, now: Int64) -> [MockOutput] {
        guard let pingInterval, let nextPing, now >= nextPing else { return [] }
        self.nextPing = now + pingInterval
        if let recordedPing, now - recordedPing < pingInterval / 2 * 3 { return [] }
        return [.text(FinnhubEncoder.ping)]
    }

    /// Pings, errors and unknown messages are sent as they were recorded.
    package mutating func passes(_ frame: ByteBuffer, now: Int64) -> Bool {
        if frame == FinnhubEncoder.ping { self.recordedPing = now }
        return true
    }

    package mutating func passes(_ signal: RecordedSignal, now: Int64) -> Bool {
        if signal.kind == .ping { self.recordedPing = now }
        return true
    }

    package func encode(_ trades: [Trade], of frame: ByteBuffer?, symbols: SymbolTable) -> [ByteBuffer] {
        FinnhubMock().encode(trades[...], symbols: symbols)
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
}
