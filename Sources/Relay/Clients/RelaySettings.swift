package import Market
package import NIOCore

/// The address, the limits and the intervals of one relay.
package struct RelaySettings: Sendable, Equatable {
    /// Where to listen: a loopback address or `localhost`, or with a ``token`` any address or name of this machine.
    package var host: String
    /// The TCP port; 0 takes a free one.
    package var port: Int
    /// Whether it listens there at all, and not at ``unixSocket`` alone.
    package var listensOnTCP = true
    /// A listening socket that is open already, to be used instead of making one at `host` and `port`, where it listens, or
    /// at a file where ``listensOnTCP`` is false.
    package var inheritedSocket: Int32?
    /// The path of a socket file to listen at as well; only this user can connect to it, so it needs no token.
    package var unixSocket: String?
    /// What clients must show, on loopback too; without one anybody on this machine is let in, and nobody else.
    package var token: ClientToken?
    /// Names of this machine that may stand in `Host`, besides the address that was connected to and those of loopback.
    package var hostNames: [String] = []
    /// Most WebSocket clients at a time.
    package var maximumClients = 1_000
    /// Most connections at a time from one address (of version 6: one /64 network) that is not this machine's.
    package var maximumClientsPerAddress = 64
    /// Most connections at a time that are plain HTTP or on their way to a WebSocket, beside the clients.
    package var maximumPlainConnections = 100
    /// Requests that a client may make at once; who goes on beyond what is allowed is closed ...
    package var requestBurst = 100
    /// ... and how many each second allows again.
    package var requestsPerSecond = 20
    /// Most bytes that wait for one client in this program. (What waits in the kernel is `sendBufferBytes`.)
    package var maximumWaitingBytes = 1 << 20
    /// Most messages that wait for one client in this program.
    package var maximumWaitingMessages = 1_024
    /// Largest message taken from a client, in bytes.
    package var maximumMessageBytes = 64 << 10
    /// Largest request line and headers of a request together, in bytes.
    package var maximumHeaderBytes = 8 << 10
    /// Time from the connection to the end of a request's headers, and between two requests.
    package var handshakeTimeout: TimeAmount = .seconds(10)
    /// Time between WebSocket pings.
    package var pingInterval: TimeAmount = .seconds(20)
    /// Time within which a client must answer a WebSocket ping.
    package var pongTimeout: TimeAmount = .seconds(10)
    /// Time between the text pings of Finnhub's protocol.
    package var textPingInterval: TimeAmount = .seconds(60)
    /// Time between the messages of `/v1/stream` that tell of trades without a new price.
    package var activityInterval: TimeAmount = .seconds(1)
    /// How long a client that is behind may take to catch up before it is closed.
    package var stallTimeout: TimeAmount = .seconds(10)
    /// Most symbols of one client, and of all clients and the feed together: Finnhub's limit for one connection.
    package var symbolLimit = 50
    /// How long a symbol is still asked for upstream when no client wants it any more; 0 gives it up at once.
    package var unsubscribeGrace: TimeAmount = .seconds(10)
    /// How the prices of `/v1/stream` are debounced.
    package var pipeline = PricePipeline.Settings()
    /// The kernel's send buffer of a client (`SO_SNDBUF`; Linux doubles it), in bytes. Left to itself, Linux takes 2.5 MB
    /// for a client that does not read, before anybody notices.
    package var sendBufferBytes = 128 << 10
    /// Most bytes in that buffer that could not even be sent, because the client's own buffer is full
    /// (`TCP_NOTSENT_LOWAT`): beyond these a client is seen to be slow.
    package var unsentBytes = 32 << 10
    /// Origins of web pages that may connect, such as `https://example.org`, besides those on a loopback name.
    package var allowedOrigins: [String] = []

    /// Whether clients that ask for compressed messages get them.
    package var compression = Compression.auto

    /// Whom messages are compressed for, where a client asks for it.
    package enum Compression: Sendable {
        /// On, unless all clients are on this machine: there compressing costs more than it saves.
        case auto
        /// For everybody who asks.
        case on
        /// For nobody.
        case off
    }

    /// Whether clients may command a replay.
    package var allowsReplayControl = false

    /// What goes by age where the feed says nothing, for `/readyz` and its like.
    package var freshness = FreshnessLimits()

    /// The program's version, as `/v1/status` and `/metrics` tell it.
    package var version = ""

    package init(host: String = "127.0.0.1", port: Int = 8_080) {
        self.host = host
        self.port = port
    }

    /// Most bytes that wait for a client for whom the feed waits. A feed that is asked to wait stops, and what is under way then
    /// still comes: the trades in the relay's outbox, which as messages of `/v1/stream` are twice as long, and those in sockets.
    private static let underWayBytes = 16 << 20

    /// Most bytes that wait for one client in this program.
    ///
    /// - Parameter feedWaits: whether the feed waits for the client.
    func waitingLimit(feedWaits: Bool) -> Int {
        feedWaits ? max(self.maximumWaitingBytes, Self.underWayBytes) : self.maximumWaitingBytes
    }

    /// Whether compressed messages are agreed on.
    var compresses: Bool {
        switch self.compression {
        case .on: true
        case .off: false
        case .auto: self.listensOnTCP && !ListeningAddress.isLoopback(host: self.host)
        }
    }
}
