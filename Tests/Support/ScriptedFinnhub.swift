import Feeds
package import MockUpstream
import NIOConcurrencyHelpers
import NIOCore
package import NIOHTTP1
import NIOPosix
package import TLS
package import WebSocket

/// A mock Finnhub that follows a test's script for each connection.
package final class ScriptedFinnhub: Sendable {
    /// The script for one connection.
    package enum Part: Sendable {
        /// Refuses the upgrade.
        case refuse(status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: String = "")
        /// Accepts TCP and never answers.
        case hang
        /// Accepts, and performs these acts after the first request.
        case play([Act])
    }

    package enum Act: Sendable {
        case send(String)
        case close(WebSocketCloseCode, String)
        /// Ends TCP without a close frame.
        case drop
        /// Performs a fault now. After a fault that ends the connection, the client receives nothing more.
        case fault(ConnectionFaults.Event)
    }

    /// The events, in order.
    package enum Event: Sendable, Equatable {
        /// TCP was accepted by a script that hangs.
        case accepted(connection: Int)
        case opened(connection: Int, target: String)
        case received(connection: Int, text: String)
        case ended(connection: Int)
    }

    package let port: Int
    /// The events; the stream ends when the server stops.
    package let events: AsyncStream<Event>
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let continuation: AsyncStream<Event>.Continuation
    private let shared: Shared

    /// Listens on a free port of 127.0.0.1. The script is called once for each connection.
    ///
    /// - Parameter faults: the faults in addition to the script, as in `tickertape serve --fault`. They count
    ///   connections from 1, the script from 0.
    package static func start(
        credentials: TLSCredentials? = nil,
        faults: FaultPlan = FaultPlan(),
        script: @escaping @Sendable (_ connection: Int) -> Part
    ) async throws -> ScriptedFinnhub {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(10_000))
        let tls = try credentials.map { try TLSContext(server: TLSServerConfiguration(credentials: $0)) }
        let counter = NIOLockedValueBox(0)
        let open = Shared()
        let pipeline: FaultyPipeline = {
            var pipeline = FaultyPipeline(tls: tls)
            pipeline.isAlwaysFaulty = true
            return pipeline
        }()
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let connection = counter.withLockedValue { count in
                    defer { count += 1 }
                    return count
                }
                let part = script(connection)
                return channel.eventLoop.makeCompletedFuture {
                    let line = try pipeline.configure(
                        channel,
                        faults: part.isHanging ? Self.hanging : faults.connection(connection + 1),
                        refusal: { head in
                            continuation.yield(.opened(connection: connection, target: head.uri))
                            guard case .refuse(let status, let headers, let body) = part else { return nil }
                            return .text(status, body, headers: headers)
                        },
                        upgraded: { channel, _, _ in
                            guard case .play(let acts) = part else { return }
                            open.connections.withLockedValue { $0[connection]?.isOpen = true }
                            try channel.pipeline.syncOperations.addHandler(
                                ScriptedHandler(acts: acts) {
                                    continuation.yield(.received(connection: connection, text: $0))
                                }
                            )
                        }
                    )
                    let bound = NIOLoopBound(line, eventLoop: channel.eventLoop)
                    open.connections.withLockedValue {
                        $0[connection] = Shared.Connection(channel: channel, line: bound)
                    }
                    channel.closeFuture.whenComplete { _ in
                        open.connections.withLockedValue { $0[connection] = nil }
                        continuation.yield(.ended(connection: connection))
                    }
                    if part.isHanging { continuation.yield(.accepted(connection: connection)) }
                }
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

    private static let hanging = FaultPlan([Fault(.hang(.tcp))]).connection(1)

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

    /// Sends a text on an open connection. Before the upgrade and after the end it sends nothing.
    package func send(_ text: String, on connection: Int) {
        guard let open = self.shared.connections.withLockedValue({ $0[connection] }), open.isOpen else { return }
        open.channel.writeAndFlush(WebSocketOutput.text(ByteBuffer(string: text)), promise: nil)
    }

    /// Ends an open connection without a close frame.
    package func drop(_ connection: Int) {
        self.shared.connections.withLockedValue { $0[connection] }?.channel.close(promise: nil)
    }

    /// Performs a fault on an open connection.
    package func happen(_ event: ConnectionFaults.Event, on connection: Int) {
        guard let channel = self.shared.connections.withLockedValue({ $0[connection] })?.channel else { return }
        channel.eventLoop.execute {
            try? channel.pipeline.syncOperations.handler(type: FaultHandler.self).happen(event)
        }
    }

    package func stop() async throws {
        self.continuation.finish()
        try await self.channel.close().get()
        // Connections that hang or are half-open do not end otherwise.
        for connection in self.shared.connections.withLockedValue({ Array($0.values) }) {
            connection.channel.eventLoop.execute { connection.line.value.stop() }
        }
        try await self.group.shutdownGracefully()
    }
}

extension ScriptedFinnhub.Part {
    fileprivate var isHanging: Bool {
        guard case .hang = self else { return false }
        return true
    }
}

private final class Shared: Sendable {
    struct Connection: Sendable {
        var channel: any Channel
        var line: NIOLoopBound<FaultyLine>
        /// Whether it is a WebSocket. Before the upgrade an HTTP encoder would trap on a WebSocket's message.
        var isOpen = false
    }

    let connections = NIOLockedValueBox<[Int: Connection]>([:])
}

/// The handler that performs the acts of one connection after its first request.
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
            case .fault(let event):
                context.flush()
                try? context.pipeline.syncOperations.handler(type: FaultHandler.self).happen(event)
            }
        }
        context.flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
