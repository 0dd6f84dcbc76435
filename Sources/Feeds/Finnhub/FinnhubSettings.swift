package import Ingest
package import Market
package import NIOCore
package import TLS
package import WebSocket
package import Wire

/// What ``FinnhubClient`` and the feeds that use it need to know when they are made.
///
/// The options are reached as if they were properties of this.
@dynamicMemberLookup
package struct FinnhubSettings: Sendable {
    /// What a person can choose of the feed.
    package struct Options: Sendable, Equatable {
        package var upstream: UpstreamAddress = .finnhub
        /// The symbols to ask for on every connection; those beyond ``SymbolMonitor/Settings/symbolLimit`` wait for a place.
        package var symbols: [String] = ["BINANCE:BTCUSDT"]
        /// The limit from the request to the end of the answer's header; a proxy has the same before.
        package var upgradeTimeout: TimeAmount = .seconds(10)
        /// A replay that is held back answers no ping in time: it must be sent none.
        package var webSocket = WebSocketSettings(role: .client)
        /// Whether what may have come before is left out of the tape: a frame that comes again byte for byte, within two
        /// seconds on one connection, and what likely came before an interruption. Never in a replay, nor from another
        /// program's relay.
        package var dropsRepeats = false
        package var session = FinnhubSession.Settings()
        package var watch = SymbolMonitor.Settings()
        package var backoff = ReconnectBackoff.Settings()

        package init() {}
    }

    package var key: Secret
    package var options: Options
    package var dial: DialSettings
    /// Where the trades come from, as every status says.
    package var source: FeedStatus.Source = .live
    /// What happens between the frames, where they are a replay's.
    package var marks: FrameMarks?
    /// Who else may hold the key, and what is remembered over a restart; nothing of it for a replay.
    package var holding = KeyHolding.none

    /// What the relay of another program of this user wants to be shown.
    package var relayToken: Secret?

    /// Is told on the feed's loop of every TLS handshake with the upstream.
    package var handshakeEnded: (@Sendable (UpstreamHandshake) -> Void)?

    package init(key: Secret, options: Options = Options(), dial: DialSettings = DialSettings()) {
        self.key = key
        self.options = options
        self.dial = dial
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<Options, Value>) -> Value {
        get { self.options[keyPath: path] }
        set { self.options[keyPath: path] = newValue }
    }
}

extension FinnhubSettings {
    /// Whether the trades are the market's own, and no replay's.
    var isLive: Bool { self.source == .live }

    /// Whatever a recording is silent about, asking for it again brings no more of it.
    var takesSteps: Bool { self.isLive && self.watch.takesSteps }

    /// Whether the upstream's certificate is checked; a connection without TLS has none to check and is loopback only.
    package var certificateIsChecked: Bool {
        guard self.upstream.isEncrypted, case .disabled = self.dial.tls.verification else { return true }
        return false
    }

    /// A replay's tape is what the recording holds.
    package var repeats: RepeatHandling {
        guard self.isLive else { return .ignored }
        return self.dropsRepeats ? .leftOut : .marked
    }

    /// The same for the connector.
    package var connector: ConnectorSettings {
        var settings = ConnectorSettings(
            address: self.upstream,
            target: self.key.target(path: self.upstream.path),
            dial: self.dial,
            upgradeTimeout: self.upgradeTimeout,
            webSocket: self.webSocket
        )
        settings.handshakeEnded = self.handshakeEnded
        return settings
    }

    /// The way to the relay of another program that holds the key. It is asked for trades and never told the key.
    func connector(to relay: UpstreamAddress, path: String) -> ConnectorSettings {
        var settings = self.connector
        settings.address = relay
        settings.target = path
        // It is on this machine, as the lock's file promises: nobody stands between, and its certificate may be for
        // another name.
        settings.dial.proxy = nil
        settings.dial.tls = TLSClientConfiguration()
        settings.dial.tls.verification = .disabled
        settings.relayToken = self.relayToken
        return settings
    }
}
