package import Feeds
package import Wire

/// The addresses of one venue.
package struct VenueAddresses: Sendable, Equatable {
    /// The WebSocket that sends the trades.
    package var stream: UpstreamAddress
    /// The REST service, which lists the symbols and has earlier trades.
    package var service: UpstreamAddress

    /// Creates the venue's own addresses.
    package init(_ venue: Venue) {
        self.stream = venue.upstream
        self.service = venue.service
    }
}

/// The addresses of all venues, and what is requested from them.
package struct AllVenueAddresses: Sendable, Equatable {
    /// Whether missing trades are requested.
    package var backfill = true
    package var binance = VenueAddresses(.binance)
    package var coinbase = VenueAddresses(.coinbase)
    package var kraken = VenueAddresses(.kraken)

    package subscript(venue: Venue) -> VenueAddresses {
        switch venue {
        case .binance: self.binance
        case .coinbase: self.coinbase
        case .kraken: self.kraken
        }
    }
}
