package import NIOCore
package import Wire

/// The settings of a ``VenueFeed``: those of the feed of any service, and the other addresses of the venue.
///
/// The members of ``ClientSettings`` and of its ``FeedSettings`` are available as if they were properties of this type.
@dynamicMemberLookup
package struct VenueSettings: Sendable {
    package let venue: Venue
    /// The settings that the feed of any service has.
    package var client: ClientSettings
    /// The address that is used when `upstream` refuses this location or its name is unknown; `nil` for none.
    package var fallback: UpstreamAddress?
    /// The venue's REST service, which lists its symbols and has their earlier trades; `nil` leaves the symbols' names
    /// unchecked.
    package var service: UpstreamAddress?
    /// The address that is used when `service` has no answer; `nil` for none.
    package var serviceFallback: UpstreamAddress?
    /// When a second connection is opened beside the first one; `nil` for never. A replay has no second one.
    package var rotation: ConnectionRotation.Settings?
    /// The limit of one request for the list of symbols.
    package var serviceTimeout: TimeAmount = .seconds(15)
    /// Whether missing trades are requested from the service.
    package var backfill = true
    /// Keeps the requests for missing trades within the venue's limits across a restart.
    package var serviceHolding = KeyHolding.none
    /// The longest wait for the list of symbols before the connection is opened without it.
    package var namesLimit: TimeAmount = .seconds(3)

    /// Creates the settings of the venue's own addresses.
    package init(_ venue: Venue, symbols: [String], dial: DialSettings = DialSettings()) {
        self.venue = venue
        self.client = ClientSettings(options: .venue(venue, symbols: symbols), dial: dial)
        self.service = venue.service
        self.rotation = .venue(venue)
        self.fallback = venue == .binance ? .binanceMarketData : nil
        self.serviceFallback = venue == .binance ? .binanceMarketDataService : nil
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<ClientSettings, Value>) -> Value {
        get { self.client[keyPath: path] }
        set { self.client[keyPath: path] = newValue }
    }

    package subscript<Value>(dynamicMember path: KeyPath<ClientSettings, Value>) -> Value {
        self.client[keyPath: path]
    }
}

extension VenueSettings {
    /// The addresses of the WebSocket, in the order in which they are tried.
    var addresses: [UpstreamAddress] { [self.upstream, self.fallback].compactMap(\.self) }

    /// The settings of requests for the list of symbols, one for each address.
    var services: [ServiceSettings] {
        [self.service, self.serviceFallback].compactMap(\.self).map { address in
            var service = ServiceSettings(address: address)
            service.venue = self.venue
            service.dial = self.dial
            service.timeout = self.serviceTimeout
            // Binance's list has some 10 MB.
            service.maximumBytes = 48 << 20
            return service
        }
    }
}

extension UpstreamAddress {
    /// Binance's services for market data only, which also answer where Binance itself refuses the location.
    package static let binanceMarketData = UpstreamAddress(
        isEncrypted: true,
        host: "data-stream.binance.vision",
        port: 443,
        path: "/stream"
    )
    package static let binanceMarketDataService = UpstreamAddress(
        isEncrypted: true,
        host: "data-api.binance.vision",
        port: 443
    )
}

extension Venue {
    /// The address of the venue's WebSocket.
    package var upstream: UpstreamAddress {
        switch self {
        case .binance:
            UpstreamAddress(isEncrypted: true, host: "stream.binance.com", port: 9_443, path: "/stream")
        case .coinbase: UpstreamAddress(isEncrypted: true, host: "ws-feed.exchange.coinbase.com", port: 443)
        case .kraken: UpstreamAddress(isEncrypted: true, host: "ws.kraken.com", port: 443, path: "/v2")
        }
    }

    /// The address of the venue's REST service.
    package var service: UpstreamAddress {
        switch self {
        case .binance: UpstreamAddress(isEncrypted: true, host: "api.binance.com", port: 443)
        case .coinbase: UpstreamAddress(isEncrypted: true, host: "api.exchange.coinbase.com", port: 443)
        case .kraken: UpstreamAddress(isEncrypted: true, host: "api.kraken.com", port: 443)
        }
    }

    /// The setting of the REST service's address, in words.
    var serviceSetting: String { "the REST address of \(self.name)" }

    /// A symbol as it is written here, for the words about a name that the venue does not know.
    package var example: String {
        switch self {
        case .binance: "BINANCE:BTCUSDT"
        case .coinbase: "COINBASE:BTC-USD"
        case .kraken: "KRAKEN:BTC/USD"
        }
    }
}
