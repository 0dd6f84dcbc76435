package import Market

/// The decision whether the data is fresh enough to be relied on, and the reason if it is not. Only a feed in the phase
/// `live` is fresh.
///
/// A replay and the demo count like the market; the status shows their source.
package struct Readiness: Sendable, Equatable {
    package var isReady: Bool
    /// The reason in one line; always present when the data is not ready.
    package var reason: String?

    /// - Parameters:
    ///   - status: the feed's status, corrected by the age of the newest trade.
    ///   - newestAge: the time since the newest trade of all symbols arrived, ns; `nil` if none has.
    package init(_ status: FeedStatus, newestAge: Int64?) {
        self.reason = status.reason
        let unsaid: String
        switch status.phase {
        case .live:
            self.isReady = newestAge != nil
            unsaid = "no trade yet"
        case .connecting:
            self.isReady = false
            unsaid = "connecting"
        case .waiting:
            self.isReady = false
            unsaid = "connected, no trade yet"
        case .late, .stale:
            self.isReady = false
            unsaid = newestAge.map { "no trade for \(AgeText.words($0))" } ?? "no trade yet"
        case .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted, .ended, .stopped:
            self.isReady = false
            unsaid = status.word
        }
        if !self.isReady, self.reason == nil { self.reason = unsaid }
    }
}
