package import Ingest
package import Market
import NIOCore
package import TLS
import WebSocket
package import Wire

/// The settings of ``FinnhubClient`` and of the feeds that use it.
///
/// The members of ``FeedSettings`` are available as if they were properties of this type.
@dynamicMemberLookup
package struct FinnhubSettings: Sendable {
    package var key: Secret
    /// What a person can choose.
    package var options: FeedSettings
    package var dial: DialSettings
    /// The source of the trades, as every status names it.
    package var source: FeedStatus.Source = .live
    /// The marks between the frames of a replay; `nil` for a live feed.
    package var marks: FrameMarks?
    /// The lock of the key and the state that is kept across a restart. A replay has neither.
    package var holding = KeyHolding.none

    /// The token for the relay of another program of this user.
    package var relayToken: Secret?

    /// Called on the feed's loop at the end of every TLS handshake with the upstream.
    package var handshakeEnded: (@Sendable (UpstreamHandshake) -> Void)?

    package init(key: Secret, options: FeedSettings = .finnhub, dial: DialSettings = DialSettings()) {
        self.key = key
        self.options = options
        self.dial = dial
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<FeedSettings, Value>) -> Value {
        get { self.options[keyPath: path] }
        set { self.options[keyPath: path] = newValue }
    }
}

extension FeedSettings {
    /// The settings of Finnhub's service.
    package static let finnhub = FeedSettings(upstream: .finnhub, symbols: ["BINANCE:BTCUSDT"])
}

extension FinnhubSettings {
    /// The dialect of the feed's frames.
    package var dialect: FrameDialect { .finnhub }

    /// Whether the trades come live from the market and not from a replay.
    var isLive: Bool { self.source == .live }

    /// Whether steps are taken for quiet symbols. In a replay a new subscription brings no more than the recording
    /// holds.
    var takesSteps: Bool { self.isLive && self.watch.takesSteps }

    /// Whether the upstream's certificate is checked. A connection without TLS has none, and leads to this machine
    /// only.
    package var certificateIsChecked: Bool {
        guard self.upstream.isEncrypted, case .disabled = self.dial.tls.verification else { return true }
        return false
    }

    /// The handling of repeats. The tape of a replay keeps whatever the recording holds.
    package var repeats: RepeatHandling {
        guard self.isLive else { return .ignored }
        return self.dropsRepeats ? .leftOut : .marked
    }

    /// The settings of the connector to the service.
    package var connector: ConnectorSettings {
        var settings = ConnectorSettings(
            address: self.upstream,
            target: self.key.target(path: self.upstream.path),
            dial: self.dial,
            webSocket: self.webSocket
        )
        settings.handshakeEnded = self.handshakeEnded
        return settings
    }

    /// Returns the settings of the connector to the relay of the program that holds the key. The relay never gets the
    /// key.
    func connector(to relay: UpstreamAddress, path: String) -> ConnectorSettings {
        var settings = self.connector
        settings.address = relay
        settings.target = path
        // The relay is on this machine, as the reader of the lock's file has checked.
        settings.dial = self.dial.toOwnRelay
        settings.relayToken = self.relayToken
        return settings
    }
}
