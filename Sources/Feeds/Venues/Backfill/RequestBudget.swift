import Wire

// The limits of a venue's REST service (reference of the venues, A1 to A3), which all programs at an address share.
extension ReconnectBackoff.Settings {
    /// The waits between the requests for earlier trades.
    static func requests(to venue: Venue) -> ReconnectBackoff.Settings {
        var settings = ReconnectBackoff.Settings()
        settings.first = 1_000_000_000
        // Any answer is a good one.
        settings.settled = 0
        settings.briefLimit = .max
        // A ban lasts up to 3 days.
        settings.longestRetryAfter = RetryAfter.limit
        switch venue {
        case .binance:
            let attempts = VenueTradesRequest.usableWeight / VenueTradesRequest.weight(of: venue)
            settings.budget = AttemptBudget(attempts: attempts, span: 60_000_000_000, isStrict: true)
        case .coinbase:
            settings.budget = AttemptBudget(attempts: 3, span: 1_000_000_000, isStrict: true)
        case .kraken:
            // The edge counts requests and connections together: 150 in 10 minutes, of which connections have 50, the
            // figures of the last 24 hours 10 and lists of symbols a few.
            settings.budget = AttemptBudget(
                attempts: 80,
                span: 600_000_000_000,
                isStrict: true,
                interval: 1_100_000_000
            )
            settings.rateLimited = RetryAfter.afterEdgeBan
            settings.rateLimitedLimit = RetryAfter.afterEdgeBan
        }
        return settings
    }
}

extension VenueTradesRequest {
    /// The most weight of a minute that requests for earlier trades may bring Binance's count to.
    static let usableWeight = Self.allowedWeight / 2
}
