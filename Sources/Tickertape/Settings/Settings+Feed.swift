import Feeds
import HTTP
import TLS
import Wire

extension Settings {
    /// Returns the settings of Finnhub's live feed, with the proxy if one applies.
    ///
    /// - Throws: ``OperatorError`` when the proxy cannot be used.
    func liveFeed(token: Secret, symbols: [String]) throws(OperatorError) -> FinnhubSettings {
        var feed = FinnhubSettings(
            key: token,
            options: self.finnhub,
            dial: try self.dial(to: self.finnhub.upstream)
        )
        feed.symbols = symbols
        feed.backoff.rejectedKey = self.rejectedKey.wait(isService: ProcessEnvironment.current.isService)
        feed.relayToken = self.relayToken
        return feed
    }

    /// Returns the settings of a venue's own live feed, with the proxy if one applies.
    ///
    /// - Throws: ``OperatorError`` when the proxy cannot be used.
    func liveFeed(of venue: Venue, symbols: [String]) throws(OperatorError) -> VenueSettings {
        let addresses = self.venues[venue]
        var feed = VenueSettings(venue, symbols: symbols, dial: try self.dial(to: addresses.stream))
        if addresses != VenueAddresses(venue) {
            // Another address is a person's choice, for which there is no substitute.
            feed.upstream = addresses.stream
            feed.service = addresses.service
            feed.fallback = nil
            feed.serviceFallback = nil
        }
        // What a server on this machine sends is a recording or made up, and its ids mean nothing to the venue.
        let isStandIn = LoopbackHost.contains(addresses.stream.host) && !LoopbackHost.contains(addresses.service.host)
        feed.backfill = self.venues.backfill && !isStandIn
        // The settings that are not Finnhub's alone.
        let chosen = self.finnhub
        feed.subscriptions.linger = chosen.subscriptions.linger
        feed.watch.freshness = chosen.watch.freshness
        feed.watch.staleFactor = chosen.watch.staleFactor
        feed.watch.staleLimit = chosen.watch.staleLimit
        feed.watch.retryRefused = chosen.watch.retryRefused
        feed.watch.retryLimit = chosen.watch.retryLimit
        feed.backoff.first = chosen.backoff.first
        feed.backoff.limit = chosen.backoff.limit
        return feed
    }
}

extension Settings.RejectedKey {
    /// The retry interval of ``auto`` in a service, where no person watches; ns.
    private static let serviceRetry: Int64 = 900_000_000_000

    /// Returns the wait before the next attempt with the key, ns; `nil` ends the program.
    func wait(isService: Bool) -> Int64? {
        switch self {
        case .auto: isService ? Self.serviceRetry : nil
        case .stop: nil
        case .retry(let wait): wait.nanoseconds
        }
    }
}
