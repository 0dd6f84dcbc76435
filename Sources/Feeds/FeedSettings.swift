package import Ingest
package import WebSocket

/// The settings that the feed of every venue has; a person can choose all of them.
package struct FeedSettings: Sendable, Equatable {
    package var upstream: UpstreamAddress
    /// The symbols of the settings, subscribed on every connection. Those beyond the limit of ``subscriptions`` wait for
    /// a place.
    package var symbols: [String]
    package var subscriptions = Subscriptions.Settings()
    /// A paused replay answers no ping in time, so its settings must send none.
    package var webSocket = WebSocketSettings(role: .client)
    /// Whether likely repeats are left out of the tape: a frame that comes again byte for byte within two seconds
    /// on one connection, and trades that likely came before an interruption. Nothing is left out in a replay,
    /// or on a connection to another program's relay.
    package var dropsRepeats = false
    package var connection = ConnectionMonitor.Settings()
    package var watch = SymbolMonitor.Settings()
    package var backoff = ReconnectBackoff.Settings()

    package init(upstream: UpstreamAddress, symbols: [String]) {
        self.upstream = upstream
        self.symbols = symbols
    }
}
