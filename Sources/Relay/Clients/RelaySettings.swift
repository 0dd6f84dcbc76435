package import HTTP
package import TLS
package import Market
package import NIOCore
package import WebSocket

/// The address, the limits and the intervals of one relay.
package struct RelaySettings: Sendable, Equatable {
    /// Where to listen: a loopback address or `localhost`, or with a ``token`` any address or name of this machine.
    /// Port 0 takes a free one. `nil` listens at ``unixSocket`` only.
    package var listen: Endpoint?
    /// An open listening socket that is used instead of a new one: at ``listen``, or at a file if that is `nil`.
    package var inheritedSocket: Int32?
    /// The path of an additional Unix socket. Only this user can connect to it, so it needs no token.
    package var unixSocket: String?
    /// Where to listen for plain lines over TCP, by the rules of ``listen``; `nil` does not. Nothing there is encrypted.
    package var lines: Endpoint?
    /// The token that clients must show, also on loopback. Without one every program on this machine may connect, and
    /// no other.
    package var token: Secret?
    /// Names of this machine that are valid in `Host`, besides the connection's own address and the loopback names.
    package var hostNames: [String] = []
    /// The most WebSocket clients at a time.
    package var maximumClients = 1_000
    /// The most connections at a time from one remote address (in IPv6: one /64 network).
    package var maximumClientsPerAddress = 64
    /// The most connections at a time that are plain HTTP or not yet a WebSocket, in addition to the clients.
    package var maximumPlainConnections = 100
    /// How many requests a client may make at once; a client that continues beyond the rate is closed.
    package var requestBurst = 100
    /// How many further requests a client may make per second.
    package var requestsPerSecond = 20
    /// The most bytes that wait for one client in this program. (`sendBufferBytes` limits those in the kernel.)
    package var maximumWaitingBytes = 1 << 20
    /// The most messages that wait for one client in this program.
    package var maximumWaitingMessages = 1_024
    /// The largest message of a client, and the WebSocket pings.
    package var webSocket = WebSocketSettings(role: .server, maximumMessageBytes: 64 << 10)
    /// The largest size of a request line and headers together, in bytes.
    package var maximumHeaderBytes = 8 << 10
    /// The time from the connection to the end of a request's headers, and between two requests.
    package var handshakeTimeout: TimeAmount = .seconds(10)
    /// The time between the text pings of Finnhub's protocol.
    package var textPingInterval: TimeAmount = .seconds(60)
    /// The time between the messages of `/v1/stream` that report trades without a new price.
    package var activityInterval: TimeAmount = .seconds(1)
    /// How long a client that is behind may take to catch up before it is closed.
    package var stallTimeout: TimeAmount = .seconds(10)
    /// How the prices of `/v1/stream`, and those of a display of the same program, are debounced.
    package var pipeline = PricePipeline.Settings()
    /// The kernel's send buffer of a client (`SO_SNDBUF`; Linux doubles it), in bytes. By default Linux buffers 2.5 MB
    /// for a client that does not read before the program can notice.
    package var sendBufferBytes = 128 << 10
    /// The most bytes in that buffer that are unsent because the client's receive buffer is full (`TCP_NOTSENT_LOWAT`).
    /// Beyond these the client counts as slow.
    package var unsentBytes = 32 << 10
    /// Origins of web pages that may connect, such as `https://example.org`, besides those on a loopback name.
    package var allowedOrigins: [String] = []

    /// Whether compressed messages are agreed on with clients that ask for them.
    ///
    /// `auto` is on, unless all clients are on this machine, where compressing costs more than it saves.
    package var compression = Choice.auto

    /// Whether the relay speaks WAMP at `/wamp`.
    package var wamp = false
    /// Whether the clients of `/wamp` may publish to each other and call each other's procedures.
    package var wampBroker = false
    /// Whether there are rooms: at `/v1/room/NAME`, in WAMP's topics and in plain lines.
    package var rooms = false

    /// Whether clients may command a replay; `auto` is on where only this machine can reach the relay.
    package var replayControl = Choice.auto

    /// A choice that may depend on where the relay listens.
    package enum Choice: String, Sendable, CaseIterable {
        case auto, on, off
    }

    /// The program's version, as shown by `/v1/status` and `/metrics`.
    package var version = ""

    package init(listen: Endpoint? = Endpoint(host: "127.0.0.1", port: 8_080)) {
        self.listen = listen
    }

    /// The descriptors for all connections, also for those that are refused.
    var wantedDescriptors: Int { self.maximumClients + 2 * self.maximumPlainConnections }

    /// Whether there is no relay at all.
    package var isOff: Bool { self.listen == nil && self.unixSocket == nil }

    /// The most bytes that wait for a client for which the feed waits. When a feed is paused, the trades under way
    /// still arrive: those in sockets and those in the relay's outbox, which take twice as many bytes as messages of
    /// `/v1/stream`.
    private static let underWayBytes = 16 << 20

    /// Returns the most bytes that wait for one client in this program.
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
        case .auto: self.listen?.isLoopback == false
        }
    }

    /// Whether clients may command a replay, if there is one.
    var allowsReplayControl: Bool {
        switch self.replayControl {
        case .on: true
        case .off: false
        case .auto: self.listen?.isLoopback ?? true
        }
    }
}
