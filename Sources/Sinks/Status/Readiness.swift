package import Market

/// Whether the data is fresh enough to be relied on, and if not, why.
///
/// The feed's word counts: it is `live` only while trades come. Its own silence is not believed for ever, so that a feed
/// that hangs is not ready. A replay is ready while it plays, and marked by its source.
package struct Readiness: Sendable, Equatable {
    /// A feed that calls itself live and has had no trade for so long is not believed; ns.
    package static let trustLimit: Int64 = 30_000_000_000

    package var isReady: Bool
    /// Why, in one line.
    package var reason: String?

    /// - Parameter newestAge: the time since the newest trade of all arrived, ns; `nil` when none has.
    package init(_ status: FeedStatus, newestAge: Int64?) {
        self.reason = status.reason
        switch status.phase {
        case .live:
            let isPlayed = status.source != .live
            self.isReady = isPlayed || newestAge.map { $0 < Self.trustLimit } ?? false
            if !self.isReady {
                self.reason =
                    "no trade for \(newestAge.map { "\($0 / 1_000_000_000) s" } ?? "ever"), whatever the feed says"
            }
        case .waiting, .late:
            // Recordings have quiet stretches, and nothing better will come.
            self.isReady = status.source != .live
            if self.reason == nil { self.reason = "connected, but no trades arrive" }
        case .connecting, .stale, .reconnecting, .rateLimited, .keyRejected, .keyInUse, .noSuchSymbol, .notPermitted,
            .ended, .stopped:
            self.isReady = false
        }
    }
}
