import Glibc
import HTTP
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// The listening sockets of a relay and the set-up of its connections.
struct RelayListener {
    /// How many connections may wait to be accepted, as far as the system allows (`net.core.somaxconn`).
    private static let backlog: Int32 = 4_096

    let hub: RelayHub
    let connectionTable: ConnectionTable
    let router: RelayRouter
    /// The memory for the answers of all connections.
    let answers: AnswerMemory
    /// The relay's certificate; nil speaks plain HTTP and WebSocket.
    let tls: RelayTLS?
    let logger: Logger

    /// Listens, and returns the listening channel.
    ///
    /// - Parameter speaksLines: whether its connections are of plain lines; otherwise they are of HTTP.
    static func bind(
        _ settings: RelaySettings,
        address: SocketAddress,
        on loop: any EventLoop,
        listener: NIOLoopBound<RelayListener>,
        logger: Logger,
        speaksLines: Bool = false
    ) async throws -> any Channel {
        let bootstrap = Self.bootstrap(settings, isTCP: true, on: loop, logger: logger) { channel in
            try speaksLines ? listener.value.setUpLines(channel) : listener.value.setUp(channel)
        }
        return try await bootstrap.bind(to: address).get()
    }

    /// The same with a socket that listens already.
    static func take(
        _ settings: RelaySettings,
        descriptor: Int32,
        isTCP: Bool,
        on loop: any EventLoop,
        listener: NIOLoopBound<RelayListener>,
        logger: Logger
    ) async throws -> any Channel {
        let bootstrap = Self.bootstrap(settings, isTCP: isTCP, on: loop, logger: logger) { channel in
            try listener.value.setUp(channel)
        }
        let channel = try await bootstrap.withBoundSocket(descriptor).get()
        // NIO sets the accept queue to 128 entries, whatever its length was.
        _ = Glibc.listen(descriptor, Self.backlog)
        return channel
    }

    private static func bootstrap(
        _ settings: RelaySettings,
        isTCP: Bool,
        on loop: any EventLoop,
        logger: Logger,
        setUp: @escaping @Sendable (any Channel) throws -> Void
    ) -> ServerBootstrap {
        let bootstrap = ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: Self.backlog)
            // Accepts all connections that arrive at once, rather than a few between two batches of trades.
            .serverChannelOption(.maxMessagesPerRead, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections inherit it. It must be set before TCP negotiates a window.
            .serverChannelOption(.socketOption(.so_sndbuf), value: .init(settings.sendBufferBytes))
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptHandler(logger: logger))
                }
            }
            // Clients send little: a symbol now and then. Each connection keeps the buffer of its last read, so this
            // buffer is small.
            .childChannelOption(
                .recvAllocator,
                value: FixedSizeRecvByteBufferAllocator(capacity: HTTPServerConnection.readBufferBytes)
            )
            .childChannelOption(.maxMessagesPerRead, value: 1)
            // A client may end its side right after its request and still expect the answer.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try setUp(channel) }
            }
        guard isTCP else { return bootstrap }
        // Inherited as well.
        return bootstrap.serverChannelOption(
            .tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT)),
            value: .init(settings.unsentBytes)
        )
    }

    /// Makes the pipeline of an accepted connection.
    ///
    /// - Throws: if the connection is closed without an answer.
    func setUp(_ channel: any Channel) throws {
        let peer = PeerAddress(remote: channel.remoteAddress, local: channel.localAddress)
        let refusal = try self.refusal(of: channel, from: peer)
        self.connectionTable.add(channel, from: peer)
        let pipeline = channel.pipeline.syncOperations
        // A Unix socket is reached from this machine only.
        let tls = Self.isSocketFile(channel) ? nil : self.tls
        if let tls { try pipeline.addHandlers(tls.makeHandlers()) }
        let service = self.service(for: channel, from: peer, isEncrypted: tls != nil)
        let rejection = refusal.map { HTTPRejection(type: $0.type, answer: $0.answer(to: nil)) }
        try HTTPServerConnection.addHandlers(to: pipeline, service, rejectsAllWith: rejection)
    }

    /// Returns why a connection gets only a refusal, or `nil`.
    ///
    /// If no place is free, a new connection takes that of the oldest plain connection. A flood of connections without
    /// requests therefore shuts out no client.
    ///
    /// - Throws: if there are so many connections that this one is closed without an answer.
    func refusal(of channel: any Channel, from peer: PeerAddress) throws -> HTTPRefusal? {
        let settings = self.hub.settings
        if self.connectionTable.isClosing { return .stopping }
        if peer != .here {
            let count = self.connectionTable.count(from: peer)
            guard count < settings.maximumClientsPerAddress * 2 else { throw self.dropped(.tooManyFromAddress) }
            if count >= settings.maximumClientsPerAddress { return .tooManyFromAddress }
        }
        let places = Places(of: settings, descriptors: self.hub.descriptors)
        guard self.connectionTable.count >= places.all else { return nil }
        if self.connectionTable.closeOldestPlain() {
            self.hub.instruments.refusals.add("connection-displaced")
            return nil
        }
        throw self.dropped(.tooManyClients)
    }

    private static func isSocketFile(_ channel: any Channel) -> Bool {
        if case .unixDomainSocket? = channel.localAddress { true } else { false }
    }

    private func dropped(_ refusal: HTTPRefusal) -> HTTPRefusal {
        self.hub.instruments.refusals.add(refusal.type)
        return refusal
    }

    private func service(for channel: any Channel, from peer: PeerAddress, isEncrypted: Bool) -> RelayHTTPService {
        let settings = self.hub.settings
        let isSocketFile = Self.isSocketFile(channel)
        let bound = channel.localAddress.flatMap(PeerAddress.text) ?? settings.listen?.host
        // The mode of our own file admits this user alone. That of a file passed to the program may admit others.
        let isOurFile =
            isSocketFile && settings.unixSocket != nil && channel.localAddress?.pathname == settings.unixSocket
        let hub = self.hub
        let connectionTable = self.connectionTable
        let boundAddress = isSocketFile ? nil : bound
        var gate = RequestGate(boundAddress: boundAddress, hub.settings)
        var rules = hub.rules
        let currentGate = {
            if rules != hub.rules {
                gate = RequestGate(boundAddress: boundAddress, hub.settings)
                rules = hub.rules
            }
            return gate
        }
        return RelayHTTPService(
            limits: HTTPServerLimits(settings),
            answers: self.answers,
            gate: currentGate,
            router: self.router,
            protocols: hub.protocols,
            isEncrypted: isEncrypted,
            tokenRefusal: { head in isOurFile ? nil : hub.tokens?.refusal(of: head, from: peer, now: hub.now) },
            refused: { type in hub.instruments.refusals.add(type) },
            admitClient: { self.refusal() },
            makeSession: { spoken, head throws(HTTPRefusal) in try spoken.init(request: head, context: hub.context) },
            makeObjection: { head in
                let objection = isOurFile ? { nil } : hub.tokenObjection()
                let origins = head.headers["Origin"]
                return { objection() ?? (currentGate().allows(origins: origins) ? nil : RequestGate.foreignOrigin) }
            },
            upgraded: { channel in connectionTable.upgraded(channel) }
        )
    }

    /// Returns why no further client is admitted, or `nil`.
    func refusal() -> HTTPRefusal? {
        if self.connectionTable.isClosing { return .stopping }
        let places = Places(of: self.hub.settings, descriptors: self.hub.descriptors)
        return self.hub.clientCount < places.clients ? nil : .tooManyClients
    }

    /// The limits of the number of connections.
    struct Places: Equatable {
        /// Connections of any kind.
        let all: Int
        /// WebSocket clients. The other places stay free for requests such as `/livez` and for refusals. If the limit
        /// of open files leaves few places, a quarter of them stays free.
        let clients: Int

        init(of settings: RelaySettings, descriptors: Int) {
            self.all = min(settings.maximumClients + settings.maximumPlainConnections, descriptors)
            let plain = min(settings.maximumPlainConnections, max(1, self.all / 4))
            self.clients = min(settings.maximumClients, self.all - plain)
        }
    }
}

extension HTTPServerLimits {
    init(_ settings: RelaySettings) {
        self.init()
        self.requestTimeout = settings.handshakeTimeout
        self.stallTimeout = settings.stallTimeout
        self.maximumHeaderBytes = settings.maximumHeaderBytes
        self.maximumBodyBytes = settings.webSocket.maximumMessageBytes
    }
}
