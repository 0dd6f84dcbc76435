import Market

/// The kind of an interruption, for counting: a bounded set of words, where the reason is free text.
package enum InterruptionClass: String, Sendable, CaseIterable {
    case name = "dns"
    case connect
    case proxy
    case tls
    case http
    case upgrade
    case rateLimited = "rate-limited"
    case keyRejected = "key-rejected"
    case keyInUse = "key-in-use"
    /// The peer said goodbye.
    case closed
    /// The connection ended without a goodbye.
    case lost
    /// A ping was not answered.
    case pong
    /// Nothing, or no trade, came for too long.
    case silent
    case other

    /// Words of the feed's reasons, in the order in which they are looked for.
    private static let signs: [(String, InterruptionClass)] = [
        ("proxy", .proxy), ("certificate", .tls), ("tls", .tls), ("cannot be resolved", .name), ("resolv", .name),
        ("refuses connections", .connect), ("cannot connect", .connect), ("no answer from", .connect),
        ("http 429", .rateLimited), ("http ", .http), ("redirect", .http),
        ("ping was not answered", .pong), ("nothing arrived", .silent), ("no trade", .silent), ("silent", .silent),
        ("handshake", .upgrade), ("did not open the websocket", .upgrade), ("instead of opening", .upgrade),
        ("without a close frame", .lost), ("connection was lost", .lost), ("connection broke", .lost),
        ("closed the connection", .closed), ("broke the websocket protocol", .closed),
    ]

    /// The kind of what a status tells; `nil` when it tells of no interruption.
    init?(_ status: FeedStatus) {
        switch status.phase {
        case .rateLimited: self = .rateLimited
        case .keyRejected: self = .keyRejected
        case .keyInUse: self = .keyInUse
        case .reconnecting: self = Self.kind(of: status.reason ?? "")
        case .connecting, .waiting, .live, .late, .stale, .noSuchSymbol, .notPermitted, .ended, .stopped: return nil
        }
    }

    private static func kind(of reason: String) -> InterruptionClass {
        let reason = reason.lowercased()
        return Self.signs.first { Self.contains(reason, $0.0) }?.1 ?? .other
    }

    /// Whether the text holds the word, by bytes; both in lower case.
    private static func contains(_ text: String, _ word: String) -> Bool {
        let (text, word) = (Array(text.utf8), Array(word.utf8))
        guard word.count <= text.count else { return false }
        return (0...(text.count - word.count)).contains { text[$0..<($0 + word.count)].elementsEqual(word) }
    }
}
