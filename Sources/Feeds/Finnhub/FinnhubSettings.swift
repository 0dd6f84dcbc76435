package import TLS
package import Wire

/// The settings of ``FinnhubClient`` and of the feeds that use it.
///
/// The members of ``ClientSettings`` and of its ``FeedSettings`` are available as if they were properties of this type.
@dynamicMemberLookup
package struct FinnhubSettings: Sendable {
    package var key: Secret
    /// The settings that the feed of any service has.
    package var client: ClientSettings

    /// The token for the relay of another program of this user.
    package var relayToken: Secret?

    package init(key: Secret, options: FeedSettings = .finnhub, dial: DialSettings = DialSettings()) {
        self.key = key
        self.client = ClientSettings(options: options, dial: dial)
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<ClientSettings, Value>) -> Value {
        get { self.client[keyPath: path] }
        set { self.client[keyPath: path] = newValue }
    }

    package subscript<Value>(dynamicMember path: KeyPath<ClientSettings, Value>) -> Value {
        self.client[keyPath: path]
    }
}

extension FeedSettings {
    /// The settings of Finnhub's service.
    package static let finnhub = FeedSettings(upstream: .finnhub, symbols: ["BINANCE:BTCUSDT"])
}

extension FinnhubSettings {
    /// The dialect of the feed's frames.
    package var dialect: FrameDialect { .finnhub }

    /// The settings of the connector to the service.
    package var connector: ConnectorSettings {
        var settings = self.client.connector(to: self.upstream)
        settings.target = self.key.target(path: self.upstream.path)
        return settings
    }

    /// Returns the settings of the connector to the relay of the program that holds the key. The relay never gets the
    /// key.
    func connector(to relay: UpstreamAddress, path: String) -> ConnectorSettings {
        var settings = self.client.connector(to: relay)
        settings.target = path
        // The relay is on this machine, as the reader of the lock's file has checked.
        settings.dial = self.dial.toOwnRelay
        settings.relayToken = self.relayToken
        return settings
    }
}
