/// What a text frame of Finnhub's says.
@frozen
public enum FinnhubMessage: Sendable, Equatable {
    /// Trades were appended, `count` of them; `skipped` elements of the frame were malformed or could not be held.
    case trade(count: Int, skipped: Int)
    /// The service's heartbeat, about every 60 s. Needs no answer.
    case ping
    /// The service's complaint, in its own words, of up to ``maximumErrorLength`` bytes.
    case error(String)
    case news
    /// A message of a type that this program does not know.
    case unknown(type: String)
    /// No message at all; nothing of the frame was used.
    case malformed(reason: String)

    /// How much of an error's text is kept, in bytes.
    package static var maximumErrorLength: Int { 1_024 }

    /// Whether nothing in the frame was left out.
    package var isWhole: Bool {
        switch self {
        case .trade(_, let skipped): skipped == 0
        case .ping, .error, .news, .unknown: true
        case .malformed: false
        }
    }
}
