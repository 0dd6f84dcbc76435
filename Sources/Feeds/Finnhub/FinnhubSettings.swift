package import Market
package import NIOCore
package import TLS
import WebSocket

/// Everything a ``FinnhubFeed`` is told when it is made.
package struct FinnhubSettings: Sendable {
    package var upstream: UpstreamAddress = .finnhub
    package var key: APIKey
    /// The symbols to ask for on every connection; those beyond ``SymbolWatch/Settings/symbolLimit`` wait for a place.
    package var symbols: [String] = ["BINANCE:BTCUSDT"]
    /// How the upstream's certificate is checked; used for `wss` only.
    package var tls = TLSClientConfiguration()
    /// Where the trades come from, as every status says.
    package var source: FeedStatus.Source = .live
    /// The way to the upstream when it is not direct; used for `wss` only.
    package var proxy: ProxyServer?
    /// The limit for finding the addresses of the upstream's name.
    package var dnsTimeout: TimeAmount = .seconds(5)
    /// The limit for connecting to one of them, all together.
    package var tcpTimeout: TimeAmount = .seconds(5)
    /// The limit from the request to the end of the answer's header; a proxy has the same before.
    package var upgradeTimeout: TimeAmount = .seconds(10)
    /// The limit of one message.
    package var maximumMessageBytes = 1 << 20
    /// The interval of our pings, `nil` for none (a replay that is held back answers no ping in time).
    package var pingInterval: TimeAmount? = .seconds(20)
    package var pongTimeout: TimeAmount = .seconds(10)
    /// Whether what may have come before is left out of the tape: a frame that comes again byte for byte, within two seconds
    /// on one connection, and what likely came before an interruption. Never in a replay, nor from another program's relay.
    package var dropsRepeats = false
    package var session = FinnhubSession.Settings()
    package var watch = SymbolWatch.Settings()
    package var ladder = ReconnectLadder.Settings()
    /// Who else may hold the key, and what is remembered over a restart; nothing of it for a replay.
    package var holding = KeyHolding.none

    /// What the relay of another program of this user wants to be shown.
    package var relayToken: APIKey?

    /// Is told on the feed's loop of every TLS handshake with the upstream.
    package var handshakeEnded: (@Sendable (UpstreamHandshake) -> Void)?

    package init(key: APIKey) {
        self.key = key
    }
}

extension FinnhubSettings {
    /// A replay's tape is what the recording holds.
    var repeats: RepeatHandling {
        guard self.source == .live else { return .ignored }
        return self.dropsRepeats ? .leftOut : .marked
    }

    /// The same for the connector.
    package var connector: ConnectorSettings {
        var webSocket = WebSocketSettings(role: .client)
        webSocket.maximumMessageBytes = self.maximumMessageBytes
        webSocket.pingInterval = self.pingInterval
        webSocket.pongTimeout = self.pongTimeout
        var settings = ConnectorSettings(
            address: self.upstream,
            target: self.key.target(path: self.upstream.path),
            proxy: self.proxy,
            tls: self.tls,
            dnsTimeout: self.dnsTimeout,
            tcpTimeout: self.tcpTimeout,
            upgradeTimeout: self.upgradeTimeout,
            webSocket: webSocket
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
        settings.proxy = nil
        settings.tls = TLSClientConfiguration()
        settings.tls.verification = .disabled
        settings.relayToken = self.relayToken
        return settings
    }
}
