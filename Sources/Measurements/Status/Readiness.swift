package import Market

/// Whether the data is fresh enough to be relied on, and if not, why: fresh is what is `live`, and nothing else.
///
/// A replay or the demo counts like the market; its source says what it is.
package struct Readiness: Sendable, Equatable {
    package var isReady: Bool
    /// Why, in one line; there whenever it is not ready.
    package var reason: String?

    /// - Parameters:
    ///   - status: what is true of the feed, its age considered.
    ///   - newestAge: the time since the newest trade of all arrived, ns; `nil` when none has.
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
