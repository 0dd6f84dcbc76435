package import TLS
package import Market
package import NIOCore
package import WebSocket

/// The address, the limits and the intervals of one relay.
package struct RelaySettings: Sendable, Equatable {
    /// Where to listen: a loopback address or `localhost`, or with a ``token`` any address or name of this machine; port 0
    /// takes a free one. `nil` leaves ``unixSocket`` alone.
    package var listen: Endpoint?
    /// A listening socket that is open already, to be used instead of making one: at ``listen``, or at a file where that is
    /// `nil`.
    package var inheritedSocket: Int32?
    /// The path of a socket file to listen at as well; only this user can connect to it, so it needs no token.
    package var unixSocket: String?
    /// What clients must show, on loopback too; without one anybody on this machine is let in, and nobody else.
    package var token: Secret?
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
    /// The largest message taken from a client, and the WebSocket pings.
    package var webSocket = WebSocketSettings(role: .server, maximumMessageBytes: 64 << 10)
    /// Largest request line and headers of a request together, in bytes.
    package var maximumHeaderBytes = 8 << 10
    /// Time from the connection to the end of a request's headers, and between two requests.
    package var handshakeTimeout: TimeAmount = .seconds(10)
    /// Time between the text pings of Finnhub's protocol.
    package var textPingInterval: TimeAmount = .seconds(60)
    /// Time between the messages of `/v1/stream` that tell of trades without a new price.
    package var activityInterval: TimeAmount = .seconds(1)
    /// How long a client that is behind may take to catch up before it is closed.
    package var stallTimeout: TimeAmount = .seconds(10)
    /// How long a symbol is still asked for upstream when no client wants it any more; 0 gives it up at once.
    package var unsubscribeGrace: TimeAmount = .seconds(10)
    /// How the prices of `/v1/stream` are debounced, and those of a display of the same program.
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
    ///
    /// `auto` is on, unless all clients are on this machine: there compressing costs more than it saves.
    package var compression = Choice.auto

    /// Whether clients may command a replay; `auto` is on where only this machine can reach the relay.
    package var replayControl = Choice.auto

    /// What may depend on where the relay listens.
    package enum Choice: String, Sendable, CaseIterable {
        case auto, on, off
    }

    /// The program's version, as `/v1/status` and `/metrics` tell it.
    package var version = ""

    package init(listen: Endpoint? = Endpoint(host: "127.0.0.1", port: 8_080)) {
        self.listen = listen
    }

    /// Whether there is no relay at all.
    package var isOff: Bool { self.listen == nil && self.unixSocket == nil }

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
        case .auto: self.listen.map { !ListeningAddress.isLoopback(host: $0.host) } ?? false
        }
    }

    /// Whether clients may command a replay, where there is one.
    var allowsReplayControl: Bool {
        switch self.replayControl {
        case .on: true
        case .off: false
        case .auto: self.listen?.isLoopback ?? true
        }
    }
}
