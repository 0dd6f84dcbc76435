import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A TCP proxy to a port of this machine, which a test can cut.
final class CuttableLine: Sendable {
    private struct State {
        var isCut = false
        var channels: [any Channel] = []
        var bytesBack = 0
    }

    let port: Int
    private let listener: any Channel
    private let state: NIOLockedValueBox<State>

    static func start(to target: Int) async throws -> CuttableLine {
        let state = NIOLockedValueBox(State())
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { near in
                guard !state.withLockedValue({ $0.isCut }) else {
                    return near.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                }
                return ClientBootstrap(group: near.eventLoop)
                    .channelInitializer { far in
                        far.eventLoop.makeCompletedFuture {
                            try far.pipeline.syncOperations.addHandler(
                                Passing(to: near) { count in
                                    state.withLockedValue { $0.bytesBack += count }
                                }
                            )
                        }
                    }
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { far in
                        try near.pipeline.syncOperations.addHandler(Passing(to: far))
                        state.withLockedValue { $0.channels += [near, far] }
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        // Bytes that arrive before the connection to the other side exists are read afterwards.
        return CuttableLine(listener: listener, state: state)
    }

    private init(listener: any Channel, state: NIOLockedValueBox<State>) {
        self.listener = listener
        self.port = listener.localAddress?.port ?? 0
        self.state = state
    }

    /// Closes all connections without a close frame, and refuses new ones until it is mended.
    func cut() async {
        let channels = self.state.withLockedValue { state in
            state.isCut = true
            defer { state.channels = [] }
            return state.channels
        }
        for channel in channels { try? await channel.close().get() }
    }

    /// The bytes that have come back from the port so far.
    var bytesBack: Int { self.state.withLockedValue { $0.bytesBack } }

    func mend() { self.state.withLockedValue { $0.isCut = false } }

    func stop() async throws {
        await self.cut()
        try await self.listener.close().get()
    }
}

/// One direction of a connection.
private final class Passing: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let passed: (Int) -> Void

    init(to other: any Channel, passed: @escaping (Int) -> Void = { _ in }) {
        self.other = other
        self.passed = passed
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.channel.setOption(.autoRead, value: true).whenFailure { _ in }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.passed(bytes.readableBytes)
        self.other.writeAndFlush(bytes, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { self.other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
