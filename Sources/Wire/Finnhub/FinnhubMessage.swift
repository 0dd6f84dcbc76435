/// The content of a text frame from Finnhub.
@frozen
public enum FinnhubMessage: Sendable, Equatable {
    /// `count` trades were appended; `skipped` elements of the frame were malformed or could not be held.
    case trade(count: Int, skipped: Int)
    /// The service's heartbeat, about every 60 s. It needs no answer.
    case ping
    /// The service's error in its own words, at most ``maximumErrorLength`` bytes.
    case error(String)
    case news
    /// A message of a type that this program does not know.
    case unknown(type: String)
    /// Not a message; no part of the frame was used.
    case malformed(reason: String)

    /// The largest length of an error's text, in bytes; a longer text is cut.
    package static var maximumErrorLength: Int { 1_024 }

    /// The content in the terms of all dialects.
    package var content: FrameContent {
        switch self {
        case .trade(_, let skipped): .trades(skipped: skipped)
        case .ping, .error, .news, .unknown: .other
        case .malformed: .malformed
        }
    }

    /// Whether no part of the frame was left out.
    package var isWhole: Bool {
        switch self {
        case .trade(_, let skipped): skipped == 0
        case .ping, .error, .news, .unknown: true
        case .malformed: false
        }
    }
}
