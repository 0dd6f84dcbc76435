import Glibc
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// The listening socket of a relay and the set-up of its connections.
///
/// Hummingbird's router answers the HTTP here, but its `Server` does not listen: its accept loop ends for good at the first
/// error of `accept` (too many open files), it takes no socket that is open already, its graceful stop has no limit of
/// time, and it adds to every connection an async channel or at least a task at the door.
struct RelayListener {
    /// How many connections may be on their way to a WebSocket, or be plain HTTP, beside the clients. Beyond these as many
    /// are told so, and all others are closed without a word.
    static let spareConnections = 100
    /// How many connections may wait to be accepted, as far as the system allows (`net.core.somaxconn`).
    private static let backlog: Int32 = 1_024

    let hub: RelayHub
    let roster: ConnectionRoster
    let router: RelayRouter
    let logger: Logger

    /// Listens, and returns the listening channel.
    static func bind(
        _ settings: RelaySettings,
        address: SocketAddress,
        on loop: any EventLoop,
        listener: NIOLoopBound<RelayListener>,
        logger: Logger
    ) async throws -> any Channel {
        try await Self.bootstrap(settings, on: loop, listener: listener, logger: logger).bind(to: address).get()
    }

    /// The same with a socket that listens already.
    static func take(
        _ settings: RelaySettings,
        descriptor: Int32,
        on loop: any EventLoop,
        listener: NIOLoopBound<RelayListener>,
        logger: Logger
    ) async throws -> any Channel {
        let channel = try await Self.bootstrap(settings, on: loop, listener: listener, logger: logger)
            .withBoundSocket(descriptor).get()
        // NIO makes the queue of who waits for `accept` 128 long, whatever it was.
        _ = Glibc.listen(descriptor, Self.backlog)
        return channel
    }

    private static func bootstrap(
        _ settings: RelaySettings,
        on loop: any EventLoop,
        listener: NIOLoopBound<RelayListener>,
        logger: Logger
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections inherit it, and it must stand before TCP agrees on a window.
            .serverChannelOption(.socketOption(.so_sndbuf), value: .init(settings.sendBufferBytes))
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptHandler(logger: logger))
                }
            }
            // A client may end its side right behind its request and still wants the answer.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try listener.value.setUp(channel) }
            }
    }

    private func setUp(_ channel: any Channel) throws {
        let settings = self.hub.settings
        let places = settings.maximumClients + Self.spareConnections
        guard self.roster.count < places + Self.spareConnections else { throw HTTPRefusal.tooManyClients }
        let refusal: HTTPRefusal? =
            self.roster.isClosing ? .stopping : self.roster.count < places ? nil : .tooManyClients
        self.roster.add(channel)
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = settings.maximumHeaderBytes
        limits.maxHeaderListSize = settings.maximumHeaderBytes
        limits.maxHeaderFieldCount = 100
        let pipeline = channel.pipeline.syncOperations
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
        try pipeline.addHandlers([
            ByteToMessageHandler(decoder),
            HTTPResponseEncoder(),
            HTTPHandler(
                self.host(boundTo: channel.localAddress?.ipAddress ?? settings.host),
                refusesAllWith: refusal
            ),
        ])
    }

    private func host(boundTo address: String) -> HTTPHandler.Host {
        HTTPHandler.Host(
            settings: self.hub.settings,
            gate: RequestGate(boundAddress: address, allowedOrigins: self.hub.settings.allowedOrigins),
            router: self.router,
            admit: { self.refusal() },
            makeClient: { endpoint, head throws(HTTPRefusal) in try self.hub.makeClient(endpoint, for: head) }
        )
    }

    /// Why no further client is let in, or `nil`.
    private func refusal() -> HTTPRefusal? {
        if self.roster.isClosing { return .stopping }
        return self.hub.clientCount < self.hub.settings.maximumClients ? nil : .tooManyClients
    }
}
