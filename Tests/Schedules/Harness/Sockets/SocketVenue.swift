import Glibc
import MockUpstream
import NIOCore
import NIOPosix
import TLS

/// The venue of a schedule behind a real socket: WebSocket and REST over TLS, on a free port of 127.0.0.1.
///
/// Unchecked: its members belong to the schedule's thread.
final class SocketVenue: @unchecked Sendable {
    let service: VenueService
    let clock: RealTimeLoop
    /// Called with each WebSocket that opens, before the venue counts it among its own.
    var opened: () -> Void = {}
    private var listener: (any Channel)?

    init(_ service: VenueService, _ clock: RealTimeLoop) {
        self.service = service
        self.clock = clock
    }

    /// Listens; returns the port.
    func listen(_ credentials: TLSCredentials, on group: any EventLoopGroup) throws -> Int {
        let context = try TLSContext(server: TLSServerConfiguration(credentials: credentials))
        let listener = try ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let end = SocketEnd()
                    let connection = SocketConnection(
                        self,
                        SocketPeer(channel: channel, end: NIOLoopBound(end, eventLoop: channel.eventLoop))
                    )
                    try channel.pipeline.syncOperations.addHandlers(
                        end,
                        TLSHandler(context: context, peer: nil),
                        SocketReader(connection, self.clock)
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .wait()
        self.listener = listener
        return listener.localAddress?.port ?? 0
    }

    func stop() throws { try self.listener?.close().wait() }
}

/// A client's socket, from the schedule's thread.
struct SocketPeer: Sendable {
    let channel: any Channel
    fileprivate let end: NIOLoopBound<SocketEnd>

    fileprivate init(channel: any Channel, end: NIOLoopBound<SocketEnd>) {
        self.channel = channel
        self.end = end
    }

    func write(_ bytes: ByteBuffer) { self.channel.writeAndFlush(bytes, promise: nil) }

    /// Ends TLS and TCP after what was written.
    func close() { self.channel.close(promise: nil) }

    /// Ends TCP with a reset; what is still on the way is lost.
    func reset() { self.channel.eventLoop.execute { self.end.value.reset() } }
}

/// The handler below TLS, which can reset the connection.
private final class SocketEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func reset() {
        guard let context, let socket = context.channel as? any SocketOptionProvider else { return }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }
}

/// The handler above TLS, which passes on what the client sends.
private final class SocketReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: SocketConnection
    private let clock: RealTimeLoop

    init(_ connection: SocketConnection, _ clock: RealTimeLoop) {
        self.connection = connection
        self.clock = clock
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (connection, bytes) = (self.connection, self.unwrapInboundIn(data))
        self.clock.submit { connection.received(bytes) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let connection = self.connection
        self.clock.submit { connection.ended() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
