import Logging
import Market
import NIOCore
import WebSocket
import Wire

/// A listener to what another program's relay says of its feed at `/v1/stream`: the state and the gaps, no prices.
///
/// Belongs to one event loop.
final class OwnerFollower {
    private let keeper: ConnectionKeeper
    /// Is told what the other program says, and `nil` when it cannot be heard any more.
    var told: (FeedStatus?) -> Void = { _ in }
    var gapFound: (Gap) -> Void = { _ in }

    init(connector: any Connecting, loop: any EventLoop, wallClock: @escaping @Sendable () -> Int64, logger: Logger) {
        var ladder = ReconnectLadder.Settings()
        ladder.limit = 1_000_000_000
        ladder.briefLimit = .max
        self.keeper = ConnectionKeeper(
            connector: connector,
            ladder: ladder,
            loop: loop,
            wallClock: wallClock,
            // Nobody else comes back at the same time.
            chance: { 1 },
            logger: logger
        )
        self.keeper.opened = { [weak self] channel in
            guard let self else { return nil }
            let handler = OwnerHandler(
                arrived: { [weak self] message in self?.take(message) },
                ended: { [weak self] in
                    self?.told(nil)
                    self?.keeper.connectionEnded(UpstreamFailure("the relay is gone", cause: .relay), tradedFor: 0)
                }
            )
            try channel.pipeline.syncOperations.addHandler(handler)
            return handler
        }
    }

    func start() { self.keeper.start() }

    func stop() { self.keeper.stop() }

    private func take(_ message: StreamMessage) {
        switch message {
        case .hello(_, _, _, let status, _), .status(let status): self.told(status)
        case .gap(let gap): self.gapFound(gap)
        case .snapshot, .price, .trades, .trade, .resumed, .symbol, .released, .replay, .error, .unknown, .malformed:
            break
        }
    }
}

/// The last handler of such a connection.
private final class OwnerHandler: ChannelInboundHandler, KeptConnection {
    typealias InboundIn = WebSocketMessage
    typealias OutboundOut = WebSocketOutput

    private let arrived: (StreamMessage) -> Void
    private let ended: () -> Void
    private var context: ChannelHandlerContext?
    private var hasEnded = false

    init(arrived: @escaping (StreamMessage) -> Void, ended: @escaping () -> Void) {
        self.arrived = arrived
        self.ended = ended
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    func close() {
        self.context?.writeAndFlush(self.wrapOutboundOut(.close(.normal, reason: "")), promise: nil)
    }

    func setReading(_ isReading: Bool) {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .text(let bytes) = self.unwrapInboundIn(data) else { return }
        self.arrived(StreamMessage.parse(bytes))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    private func end() {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.ended()
    }
}
