import NIOCore
import TLS

/// The settings of the relay.
extension Setting {
    static let relayListen = Setting(
        "relay.listen",
        \.relay.listen,
        Syntax.endpoint.optional("off"),
        flags: ["relay"],
        help: "Where the relay listens, HOST:PORT, or off; where others can reach it, relay.token-file is needed."
    )
    static let linesListen = Setting(
        "lines.listen",
        \.relay.lines,
        Syntax.endpoint.optional("off"),
        help: "Where plain lines for nc and shells are served, HOST:PORT, or off; nothing there is encrypted."
    )
    static let relayUnixSocket = Setting(
        "relay.unix-socket",
        \.relay.unixSocket,
        Syntax.path.optional("none"),
        help: "A socket file to listen at as well, which this user alone can connect to."
    )
    private static let relayTokenPath: any WritableKeyPath<Settings, Secret?> & Sendable = \.relayToken

    static let relayTokenFile = Setting(
        "relay.token-file",
        \.relayFiles.token,
        Syntax.path.optional("none"),
        contents: relayTokenPath,
        isReloadable: true,
        help: "A file that holds the token that clients of the relay must send, and nothing else."
    )
    static let relayHostNames = Setting(
        "relay.host-names",
        list: \.relay.hostNames,
        of: .hostName,
        count: 0...100,
        isReloadable: true,
        help: "Names of this machine by which clients reach the relay, besides its address and localhost."
    )
    static let relayCertificateFile = Setting(
        "relay.certificate-file",
        \.relayFiles.certificate,
        Syntax.path.optional("none"),
        help: "The PEM file of the certificate with which the relay speaks TLS (wss, https), followed by its chain."
    )
    static let relayKeyFile = Setting(
        "relay.key-file",
        \.relayFiles.key,
        Syntax.path.optional("none"),
        help: "The PEM file of the key to that certificate."
    )
    static let relayPingInterval = Setting(
        "relay.ping-interval",
        \.relay.webSocket.pingInterval,
        Syntax.duration.within(patience).present,
        isReloadable: true,
        help: "How often a client is sent a ping."
    )
    static let relayPongTimeout = Setting(
        "relay.pong-timeout",
        \.relay.webSocket.pongTimeout,
        Syntax.duration.within(patience),
        isReloadable: true,
        help: "How long a client may take to answer a ping before it is dropped."
    )
    static let relayMaxClients = Setting(
        "relay.max-clients",
        \.relay.maximumClients,
        Syntax.count.within(1...100_000),
        isReloadable: true,
        help: "The most clients at a time."
    )
    static let relayMaxClientsPerAddress = Setting(
        "relay.max-clients-per-address",
        \.relay.maximumClientsPerAddress,
        Syntax.count.within(1...100_000),
        isReloadable: true,
        help: "The most connections at a time from one address of another machine."
    )
    static let relayMaxPlainConnections = Setting(
        "relay.max-plain-connections",
        \.relay.maximumPlainConnections,
        Syntax.count.within(1...10_000),
        isReloadable: true,
        help: "The most connections at a time that are plain HTTP or not yet a WebSocket, beside the clients."
    )
    static let relayHandshakeTimeout = Setting(
        "relay.handshake-timeout",
        \.relay.handshakeTimeout,
        Syntax.duration.within(patience),
        isReloadable: true,
        help: "How long a request may take to arrive, and a connection may stay without the next one."
    )
    static let relayMaxHeaders = Setting(
        "relay.max-headers",
        \.relay.maximumHeaderBytes,
        Syntax.size.within(1_024...(1 << 20)),
        isReloadable: true,
        help: "The largest request line and headers of a request, together."
    )
    static let relayRequestBurst = Setting(
        "relay.request-burst",
        \.relay.requestBurst,
        Syntax.count.within(1...100_000),
        isReloadable: true,
        help: "How many requests for symbols a client may make at once."
    )
    static let relayRequestsPerSecond = Setting(
        "relay.requests-per-second",
        \.relay.requestsPerSecond,
        Syntax.count.within(1...100_000),
        isReloadable: true,
        help: "How many more such requests a client may make each second."
    )
    static let relayMaxWaiting = Setting(
        "relay.max-waiting",
        \.relay.maximumWaitingBytes,
        Syntax.size.within((64 << 10)...(1 << 30)),
        isReloadable: true,
        help: "The most bytes that wait for one client; a client that lets more pile up is slow."
    )
    static let relayMaxMessage = Setting(
        "relay.max-message",
        \.relay.webSocket.maximumMessageBytes,
        Syntax.size.within(1_024...(16 << 20)),
        isReloadable: true,
        help: "The largest message that is taken from a client."
    )
    static let relayUnsubscribeGrace = Setting(
        "relay.unsubscribe-grace",
        \.finnhub.subscriptions.linger,
        Syntax.duration.within(.zero ... .hours(1)),
        isReloadable: true,
        help:
            "How long a symbol stays subscribed to upstream after its last client has unsubscribed; 0 ends it at once."
    )
    static let relayCompression = Setting(
        "relay.compression",
        \.relay.compression,
        .word,
        help: "Compress messages for clients that ask for it: on, off, or auto (not on this machine's own addresses)."
    )
    static let relayReplayControl = Setting(
        "relay.replay-control",
        \.relay.replayControl,
        .word,
        help: "Whether clients may control a replay: on, off, or auto (where only this machine can reach the relay)."
    )
    static let relayWAMP = Setting(
        "relay.wamp",
        \.relay.wamp,
        Syntax<Bool>.flag,
        help: "Whether the relay speaks WAMP at /wamp."
    )
    static let wampBroker = Setting(
        "wamp.broker",
        \.relay.wampBroker,
        Syntax<Bool>.flag,
        help: "Whether the clients of /wamp may publish to each other and call each other's procedures."
    )
    static let relayRooms = Setting(
        "relay.rooms",
        \.relay.rooms,
        Syntax<Bool>.flag,
        help: "Whether there are rooms, in which clients exchange messages, at /v1/room/NAME, over WAMP and in lines."
    )
    static let relayAllowedOrigins = Setting(
        "relay.allowed-origins",
        list: \.relay.allowedOrigins,
        of: .origin,
        count: 0...100,
        isReloadable: true,
        help: "Web pages that may connect, by origin; programs always may."
    )
}
