package import Wire

extension ConnectionRotation.Settings {
    /// The settings for a venue; `nil` for one that announces no end, and whose heartbeats show what is missing.
    static func venue(_ venue: Venue) -> ConnectionRotation.Settings? {
        switch venue {
        case .binance:
            // A connection ends after 24 hours.
            var settings = ConnectionRotation.Settings(age: 84_600_000_000_000)
            settings.renewsSilent = true
            return settings
        case .coinbase: return nil
        case .kraken:
            var settings = ConnectionRotation.Settings()
            settings.renewsSilent = true
            return settings
        }
    }
}

// The manners of each venue (its documentation states the limits; these stay below them).
extension FeedSettings {
    /// The settings of a venue's own feed.
    package static func venue(_ venue: Venue, symbols: [String]) -> FeedSettings {
        var settings = FeedSettings(upstream: venue.upstream, symbols: symbols)
        // The symbols' ids prove what is missing, and a silent symbol may just be rare.
        settings.watch.takesSteps = false
        settings.subscriptions.limitOwner = venue.name
        settings.watch.subscribeBatch = 100
        settings.watch.subscribeBurst = 1
        // No key is shared, so a brief connection says nothing about another program.
        settings.backoff.briefLimit = .max
        switch venue {
        case .binance:
            // 1,024 streams a connection; 5 messages a second, of which pings and pongs need some; 300 attempts in
            // 5 minutes. The server pings every 20 s.
            settings.subscriptions.limit = 1_000
            settings.watch.subscribeInterval = 334_000_000
            settings.connection.silentAfter = 60_000_000_000
            settings.backoff.budget = AttemptBudget(attempts: 100, span: 300_000_000_000, isStrict: true)
            // A ban lasts from 2 minutes to 3 days, and an attempt prolongs it.
            settings.backoff.longestRetryAfter = RetryAfter.limit
        case .coinbase:
            // 8 requests a second. A heartbeat comes every second for each product.
            settings.subscriptions.limit = 500
            settings.watch.subscribeInterval = 150_000_000
            settings.connection.heartbeatSilentAfter = 10_000_000_000
            settings.backoff.budget = AttemptBudget(attempts: 100, span: 300_000_000_000, isStrict: true)
        case .kraken:
            // 150 attempts in 10 minutes, most of which are left to requests to the REST service; then a ban of 10
            // minutes, which an attempt renews. A heartbeat comes every second while anything is subscribed.
            settings.subscriptions.limit = 500
            settings.watch.subscribeInterval = 250_000_000
            settings.connection.heartbeatSilentAfter = 10_000_000_000
            settings.backoff.budget = AttemptBudget(attempts: 50, span: 600_000_000_000, isStrict: true)
            settings.backoff.rateLimited = RetryAfter.afterEdgeBan
            settings.backoff.rateLimitedLimit = RetryAfter.afterEdgeBan
        }
        return settings
    }
}
