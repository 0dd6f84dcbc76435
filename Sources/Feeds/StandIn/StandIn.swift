package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
package import TLS
import WebSocket

/// How a ``StandIn`` behaves.
package struct StandInSettings: Sendable {
    /// How many times the recording's own pace; `nil` is as fast as the client reads.
    package var speed: Double? = 1
    /// The server's certificate; `nil` serves plain WebSocket, for load programs on loopback.
    package var credentials: TLSCredentials?
    /// Whether the recording begins anew at its end; otherwise the connection is closed with 1000.
    package var repeats = false
    /// Whether the trades' times are moved so that the recording begins now.
    package var rebasesTimes = false
    /// Whether nothing is played before ``StandIn/go()``.
    package var waitsForGo = false
    /// The interval of Finnhub's text ping; the real service's is about 60 s.
    package var pingInterval: TimeAmount = .seconds(60)
    /// The interval of WebSocket pings; `nil` for a client that may hold back for long.
    package var keepaliveInterval: TimeAmount?
    package var symbolLimit = 50

    package init() {}
}

/// A stand-in Finnhub: serves a recording over TLS and WebSocket with the manners of the real service.
package final class StandIn: Sendable {
    /// The reason in the close frame behind the last frame of a recording.
    package static let endOfRecording = "end of the recording"

    private let channel: any Channel
    private let connections: NIOLoopBound<Connections>
    private let goPromise: EventLoopPromise<Void>

    /// What is open, so that a stop can end it.
    final class Connections {
        var open: [ObjectIdentifier: any Channel] = [:]
    }

    private init(channel: any Channel, connections: NIOLoopBound<Connections>, goPromise: EventLoopPromise<Void>) {
        self.channel = channel
        self.connections = connections
        self.goPromise = goPromise
    }

    /// The address it listens on.
    package var address: SocketAddress? { self.channel.localAddress }

    /// Listens on `host:port` (port 0 takes a free one); every client gets the recording from its start.
    ///
    /// - Parameters:
    ///   - loop: carries the listening socket, all connections and the reading of the file.
    ///   - wallClock: ns since 1970.
    /// - Throws: an `IOError` when the address cannot be bound, ``TLSError`` for unusable credentials.
    package static func start(
        recording: RecordingFile,
        settings: StandInSettings,
        on loop: any EventLoop,
        host: String = "127.0.0.1",
        port: Int = 0,
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64
    ) async throws -> StandIn {
        var tls: TLSContext?
        if let credentials = settings.credentials {
            tls = try TLSContext(server: TLSServerConfiguration(credentials: credentials))
        }
        let context = tls
        let goPromise = loop.makePromise(of: Void.self)
        if !settings.waitsForGo { goPromise.succeed(()) }
        let connections = try await loop.submit { NIOLoopBound(Connections(), eventLoop: loop) }.get()
        var keepalive = WebSocketSettings(role: .server)
        keepalive.pingInterval = settings.keepaliveInterval
        // A client that may hold back for long may be long in coming to the close frame.
        keepalive.closeTimeout = settings.keepaliveInterval == nil ? .hours(24) : .seconds(30)
        let webSocket = keepalive
        let channel = try await ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                connections.value.open[ObjectIdentifier(channel)] = channel
                channel.closeFuture.whenComplete { _ in
                    connections.value.open[ObjectIdentifier(channel)] = nil
                }
                if let context {
                    do {
                        try channel.pipeline.syncOperations.addHandler(TLSHandler(context: context, peer: nil))
                    } catch {
                        return channel.eventLoop.makeFailedFuture(error)
                    }
                }
                return channel.configureWebSocketServer(
                    settings: webSocket,
                    handshakeTimeout: .seconds(10),
                    decide: { head in Self.decide(head) },
                    upgraded: { channel, _ in
                        let handler = StandInHandler(
                            settings: settings,
                            recording: recording,
                            go: goPromise.futureResult,
                            wallClock: wallClock,
                            logger: logger
                        )
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                )
            }
            .bind(host: host, port: port)
            .get()
        return StandIn(channel: channel, connections: connections, goPromise: goPromise)
    }

    /// Lets the replay begin where it waits for that.
    package func go() {
        self.goPromise.succeed(())
    }

    /// Stops listening and ends every connection.
    package func stop() async {
        let connections = self.connections
        self.goPromise.succeed(())
        try? await self.channel.close().get()
        try? await self.channel.eventLoop.submit {
            for channel in connections.value.open.values { channel.close(promise: nil) }
        }.get()
    }

    /// Answers as the real service: any key is good enough, none is not.
    private static func decide(_ head: HTTPRequestHead) -> WebSocketServerDecision {
        let query = head.uri.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let hasToken = query.split(separator: "&").contains { $0.hasPrefix("token=") && $0.count > "token=".count }
        if hasToken || head.headers.contains(name: "X-Finnhub-Token") { return .accept([:]) }
        return .refuse(
            .unauthorized,
            headers: ["Content-Type": "application/json"],
            body: "{\"error\":\"Invalid API key\"}"
        )
    }
}
