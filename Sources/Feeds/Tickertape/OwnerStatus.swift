import Logging
import Market
import NIOCore
import Wire

/// Who hears what another program says of its feed; everything is called on the feed's loop.
protocol OwnerStatusDelegate: AnyObject {
    /// Takes what the other program says; `nil` when it cannot be heard any more.
    func ownerStatusChanged(_ status: FeedStatus?)
    /// Takes a gap that the other program has.
    func ownerGapFound(_ gap: Gap)
}

/// What the program that holds the key says of its feed, while this one has the trades through its relay: the status and the
/// gaps, and no prices.
final class OwnerStatus: StreamConnectionDelegate {
    let attachment: Attachment
    /// What it says; `nil` until it has, and while it cannot be heard.
    private(set) var status: FeedStatus?
    weak var delegate: (any OwnerStatusDelegate)?
    private let connection: StreamConnection

    /// `nil` where there is no way to its relay.
    init?(
        _ attachment: Attachment,
        relays: ConnectionKeeper.RelayConnector,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        guard case .at(let relay) = attachment.owner.relay, let connector = try? relays(relay, "/v1/stream") else {
            return nil
        }
        var ladder = ReconnectLadder.Settings()
        ladder.limit = 1_000_000_000
        ladder.briefLimit = .max
        self.attachment = attachment
        self.connection = StreamConnection(
            .ofNothing,
            connector: connector,
            ladder: ladder,
            loop: loop,
            wallClock: wallClock,
            // Nobody else comes back at the same time.
            chance: { 1 },
            logger: logger
        )
        self.connection.delegate = self
    }

    func start() { self.connection.start() }

    func stop() {
        self.delegate = nil
        self.connection.stop()
    }

    func messageArrived(_ message: StreamMessage) {
        switch message {
        case .hello(_, _, _, let status, _), .status(let status): self.take(status)
        case .gap(let gap): self.delegate?.ownerGapFound(gap)
        case .snapshot, .price, .trades, .trade, .resumed, .symbol, .released, .replay, .error, .unknown, .malformed:
            break
        }
    }

    func linkChanged(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        if phase != .waiting { self.take(nil) }
    }

    private func take(_ status: FeedStatus?) {
        guard self.status != status else { return }
        self.status = status
        self.delegate?.ownerStatusChanged(status)
    }
}
