import NIOCore
package import NIOHTTP1
import NIOPosix
import Synchronization
package import TLS
package import WebSocket

/// A Finnhub that follows a script: what it does with each connection is decided by the test.
package final class ScriptedFinnhub: Sendable {
    /// What it does with the connection of that number (from 0).
    package enum Part: Sendable {
        /// Refuses the upgrade.
        case refuse(status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: String = "")
        /// Accepts TCP and never answers.
        case hang
        /// Accepts, and does this once the first request has come.
        case play([Act])
    }

    package enum Act: Sendable {
        case send(String)
        case close(WebSocketCloseCode, String)
        /// Ends TCP without a close frame.
        case drop
    }

    /// What happened, in order.
    package enum Event: Sendable, Equatable {
        /// TCP was accepted by a part that hangs.
        case accepted(connection: Int)
        case opened(connection: Int, target: String)
        case received(connection: Int, text: String)
        case ended(connection: Int)
    }

    package let port: Int
    /// Ends when the server stops.
    package let events: AsyncStream<Event>
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let continuation: AsyncStream<Event>.Continuation
    private let shared: Shared

    /// Listens on a free port of 127.0.0.1; the script is asked once for each connection.
    package static func start(
        credentials: TLSCredentials? = nil,
        script: @escaping @Sendable (_ connection: Int) -> Part
    ) async throws -> ScriptedFinnhub {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(10_000))
        let tls = try credentials.map { try TLSContext(server: TLSServerConfiguration(credentials: $0)) }
        let counter = Mutex(0)
        let open = Shared()
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let connection = counter.withLock { count in
                    defer { count += 1 }
                    return count
                }
                open.channels.withLock { $0[connection] = channel }
                channel.closeFuture.whenComplete { _ in
                    open.channels.withLock { $0[connection] = nil }
                    continuation.yield(.ended(connection: connection))
                }
                let part = script(connection)
                if case .hang = part {
                    continuation.yield(.accepted(connection: connection))
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                do {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(TLSHandler(context: tls, peer: nil))
                    }
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                return channel.configureWebSocketServer(
                    settings: WebSocketSettings(role: .server),
                    handshakeTimeout: .seconds(10),
                    decide: { head in
                        continuation.yield(.opened(connection: connection, target: head.uri))
                        guard case .refuse(let status, let headers, let body) = part else { return .accept([:]) }
                        return .refuse(status, headers: headers, body: body)
                    },
                    upgraded: { channel, _ in
                        guard case .play(let acts) = part else { return }
                        try channel.pipeline.syncOperations.addHandler(
                            ScriptedHandler(acts: acts) {
                                continuation.yield(.received(connection: connection, text: $0))
                            }
                        )
                    }
                )
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        return ScriptedFinnhub(
            port: channel.localAddress?.port ?? 0,
            events: events,
            channel: channel,
            group: group,
            continuation: continuation,
            open: open
        )
    }

    private init(
        port: Int,
        events: AsyncStream<Event>,
        channel: any Channel,
        group: MultiThreadedEventLoopGroup,
        continuation: AsyncStream<Event>.Continuation,
        open: Shared
    ) {
        self.port = port
        self.events = events
        self.channel = channel
        self.group = group
        self.continuation = continuation
        self.shared = open
    }

    /// Sends a text on an open connection.
    package func send(_ text: String, on connection: Int) {
        self.shared.channels.withLock { $0[connection] }?
            .writeAndFlush(WebSocketOutput.text(ByteBuffer(string: text)), promise: nil)
    }

    /// Ends an open connection without a close frame.
    package func drop(_ connection: Int) {
        self.shared.channels.withLock { $0[connection] }?.close(promise: nil)
    }

    package func stop() async throws {
        self.continuation.finish()
        try await self.channel.close().get()
        try await self.group.shutdownGracefully()
    }
}

private final class Shared: Sendable {
    let channels = Mutex<[Int: any Channel]>([:])
}

/// Plays the acts of one connection after its first request.
private final class ScriptedHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    private var acts: [ScriptedFinnhub.Act]
    private let received: (String) -> Void

    init(acts: [ScriptedFinnhub.Act], received: @escaping (String) -> Void) {
        self.acts = acts
        self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .text(let bytes) = self.unwrapInboundIn(data) else { return }
        self.received(String(buffer: bytes))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let acts = self.acts
        self.acts = []
        for act in acts {
            switch act {
            case .send(let text):
                context.write(self.wrapOutboundOut(.text(ByteBuffer(string: text))), promise: nil)
            case .close(let code, let reason):
                context.write(self.wrapOutboundOut(.close(code, reason: reason)), promise: nil)
            case .drop:
                context.flush()
                context.close(promise: nil)
                return
            }
        }
        context.flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
