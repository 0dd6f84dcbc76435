package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
import Platform
package import TLS
import WebSocket
package import Wire

/// The settings of a ``MockServer``.
package struct MockServerSettings: Sendable {
    /// The settings of the replay.
    package var replay = ReplaySettings()
    /// Whether all clients share one clock, which takes commands (``MockServer/remote``). Otherwise each client gets
    /// the recording from its start.
    package var sharesClock = false
    /// Pass the marks of a replay to the feeds of the same program, by the dialects of their connections; other clients
    /// do not get them. The replay begins when all of these connections have requested their symbols.
    package var marks: [FrameDialect: FrameMarks] = [:]
    /// The server's certificate; `nil` serves plain WebSocket, for load tests on loopback.
    package var credentials: TLSCredentials?
    /// Whether the replay waits for ``MockServer/go()``.
    package var waitsForGo = false
    /// The interval of Finnhub's text ping; the real service's is about 60 s. While the recording has pings, only those
    /// are sent; `nil` never sends others, nor a venue's heartbeats.
    package var pingInterval: TimeAmount? = .seconds(60)
    /// The interval of WebSocket pings; `nil` for a client that may stop reading for long.
    package var keepaliveInterval: TimeAmount?
    package var symbolLimit = 50
    /// The faults of the connections.
    package var faults = FaultPlan()
    /// The treatment of two connections with one key; `nil` keeps both.
    package var oneConnectionPerKey: KeyHolders.Rule?
    /// The most connections at a time; a further client is disconnected at once. Each takes two file descriptors.
    package var connectionLimit = 250
    /// Called for every fault at the opening of a connection and for every event, with the connection's number, counted
    /// from 1.
    package var faultHappened: @Sendable (_ connection: Int, _ fault: String) -> Void = { _, _ in }

    package init() {}

    /// The factor on the recording's pace; `nil` plays as fast as the client reads.
    package var speed: Double? {
        get { self.replay.machine.speed }
        set { self.replay.machine.speed = newValue }
    }
    /// Whether the recording restarts at its end; otherwise the connection is closed with 1000.
    package var repeats: Bool {
        get { self.replay.repeats }
        set { self.replay.repeats = newValue }
    }
    /// Whether the trades' times are moved so that the recording begins now.
    package var rebasesTimes: Bool {
        get { self.replay.rebasesTimes }
        set { self.replay.rebasesTimes = newValue }
    }
}

/// A mock server of Finnhub or of a venue: it serves a recording or a simulated market over TLS and WebSocket and behaves
/// like the real service.
///
/// It speaks the protocols of the material's dialects. Where these are several, a client's path and key decide.
package final class MockServer: Sendable {

    private let channel: any Channel
    private let clients: NIOLoopBound<MockServerClients>
    private let goPromise: EventLoopPromise<Void>
    private let marks: [FrameMarks]
    /// Controls the clock that all clients share; `nil` if each client has its own.
    package let remote: ReplayRemote?

    private init(
        channel: any Channel,
        clients: NIOLoopBound<MockServerClients>,
        goPromise: EventLoopPromise<Void>,
        marks: [FrameMarks],
        remote: ReplayRemote?
    ) {
        self.channel = channel
        self.clients = clients
        self.goPromise = goPromise
        self.marks = marks
        self.remote = remote
    }

    /// The listening address.
    package var address: SocketAddress? { self.channel.localAddress }

    /// Listens on `host:port` (port 0 takes a free one). Each client gets the recording from its start, from the shared
    /// clock's position, or from the place in its `?start=`.
    ///
    /// - Parameters:
    ///   - loop: runs the listening socket, all connections and the reading of the file.
    ///   - wallClock: returns ns since 1970.
    /// - Throws: an `IOError` if the address cannot be bound, ``TLSError`` for unusable credentials,
    ///   ``RecordingFailure`` if there is nothing to play.
    package static func start(
        _ material: ReplayMaterial,
        settings: MockServerSettings,
        on loop: any EventLoop,
        host: String = "127.0.0.1",
        port: Int = 0,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64
    ) async throws -> MockServer {
        var tls: TLSContext?
        if let credentials = settings.credentials {
            tls = try TLSContext(server: TLSServerConfiguration(credentials: credentials))
        }
        let context = tls
        let (clients, remote) = try await loop.submit {
            let source = try ReplaySource(material, settings: settings, loop: loop, wallClock: wallClock)
            let clients = MockServerClients(settings, source: source)
            return (NIOLoopBound(clients, eventLoop: loop), source.shared.map(ReplayRemote.init))
        }.get()
        let goPromise = loop.makePromise(of: Void.self)
        if !settings.waitsForGo { goPromise.succeed(()) }
        var keepalive = WebSocketSettings(role: .server)
        keepalive.pingInterval = settings.keepaliveInterval
        // A client that may stop reading for long may also be long in reaching the close frame.
        keepalive.closeTimeout = settings.keepaliveInterval == nil ? .hours(24) : .seconds(30)
        let protocols = MockProtocols(material.dialects)
        var configured = FaultyPipeline(tls: context, webSocket: keepalive)
        configured.upstream = protocols.of
        configured.wallClock = wallClock
        let pipeline = configured
        let bound = ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard let number = clients.value.accepted() else {
                    logger.warning("A client is one too many", metadata: ["limit": "\(settings.connectionLimit)"])
                    return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                }
                channel.closeFuture.assumeIsolated().whenComplete { _ in clients.value.ended(number) }
                let faults = settings.faults.connection(number)
                if faults.opening != .normal { settings.faultHappened(number, "\(faults.opening)") }
                return channel.eventLoop.makeCompletedFuture {
                    let line = try pipeline.configure(
                        channel,
                        faults: faults,
                        reported: { settings.faultHappened(number, "\($0)") },
                        answer: { head in clients.value.answer(head, number: number) },
                        refusal: { head in clients.value.refusal(of: head) },
                        upgraded: { channel, head, line in
                            clients.value.opened(number, head)
                            let handler = clients.value.makeHandler(
                                number: number,
                                head,
                                line: line,
                                go: goPromise.futureResult,
                                logger: logger
                            )
                            try channel.pipeline.syncOperations.addHandler(handler)
                        }
                    )
                    clients.value.add(number, line)
                }
            }
            .bind(host: host, port: port)
        bound.whenFailure { goPromise.fail($0) }
        let channel = try await bound.get()
        return MockServer(
            channel: channel,
            clients: clients,
            goPromise: goPromise,
            marks: Array(settings.marks.values),
            remote: remote
        )
    }

    /// Starts a server for a recording.
    package static func start(
        recording: RecordingFile,
        settings: MockServerSettings,
        on loop: any EventLoop,
        host: String = "127.0.0.1",
        port: Int = 0,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64
    ) async throws -> MockServer {
        try await Self.start(
            .recording(recording),
            settings: settings,
            on: loop,
            host: host,
            port: port,
            logger: logger,
            wallClock: wallClock
        )
    }

    /// Starts a replay that waits for it.
    package func go() {
        self.goPromise.succeed(())
    }

    /// Calls `answered` on the server's loop, which cannot run it while it waits for the recording's disk.
    package func probe(_ answered: @escaping @Sendable () -> Void) { self.channel.eventLoop.execute(answered) }

    /// Calls `report` with one line if the replay cannot begin for long, because connections of the program are missing.
    package func watchStart(_ report: @escaping @Sendable (String) -> Void) {
        let clients = self.clients
        self.channel.eventLoop.execute { clients.value.watchStart(report) }
    }

    /// Stops listening and ends every connection. Returns whether the loop did so within the limit; it cannot while it
    /// waits for the recording's disk.
    ///
    /// Whatever it returns, the player calls neither the feed nor a watcher of its clock afterwards, so their loops may
    /// end.
    @discardableResult
    package func stop(within limit: Duration = .seconds(2)) async -> Bool {
        for marks in self.marks { marks.follow(nil) }
        self.remote?.stopWatching()
        let (channel, clients) = (self.channel, self.clients)
        self.goPromise.succeed(())
        let ended: Void? = await withTimeLimit(limit) {
            try? await channel.close().get()
            try? await channel.eventLoop.submit { clients.value.stop() }.get()
        }
        return ended != nil
    }
}
