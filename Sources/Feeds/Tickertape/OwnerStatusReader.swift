import Market
import NIOCore
import Wire

/// The reader of the feed status and the gaps of the program that holds the key, while this program gets the trades
/// through its relay. It subscribes to no prices.
final class OwnerStatusReader: StreamConnectionDelegate {
    private let client: FinnhubClient
    private let resumption: RelayResumption
    private let connection: StreamConnection
    /// The owner's status; `nil` before the first one, and while the relay cannot be reached.
    private var status: FeedStatus?
    private var isStopped = false

    /// - Parameters:
    ///   - resumption: the position in the owner's frames.
    ///   - connector: the way to the owner's `/v1/stream`.
    init(_ client: FinnhubClient, resumption: RelayResumption, connector: any Connecting) {
        var backoff = ReconnectBackoff.Settings()
        backoff.limit = 1_000_000_000
        backoff.briefLimit = .max
        var context = client.context
        // No other program reconnects at the same time, so waits need no jitter.
        context.chance = { 1 }
        self.client = client
        self.resumption = resumption
        self.connection = StreamConnection(
            .ofNothing,
            connector: connector,
            secret: client.key,
            backoff: backoff,
            context
        )
        self.connection.delegate = self
    }

    func start() { self.connection.start() }

    func stop() {
        self.isStopped = true
        self.connection.stop()
    }

    func messageArrived(_ message: StreamMessage) {
        switch message {
        case .hello(_, _, _, let status, _), .status(let status): self.take(status)
        case .gap(let gap):
            // An owner of an earlier version sends its gaps only here.
            if !self.isStopped, !self.resumption.hasPositions { self.client.ownerGapFound(gap) }
        case .snapshot, .price, .trades, .trade, .settled, .venueDay, .resumed, .symbol, .released, .replay, .error,
            .unknown, .malformed:
            break
        }
    }

    func linkChanged(_ phase: FeedStatus.Phase, reason: String?, cause: FeedStatus.Cause?) {
        if phase != .waiting { self.take(nil) }
    }

    private func take(_ status: FeedStatus?) {
        guard !self.isStopped, self.status != status else { return }
        self.status = status
        self.client.ownerStatusChanged(status)
    }
}
