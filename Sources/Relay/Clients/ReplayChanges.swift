import Market
import NIOConcurrencyHelpers

/// The changes of a replay that the relay has not reported yet.
///
/// A recording that restarts again and again may be faster than the relay. Of changes that differ only in the place,
/// the newest is enough.
final class ReplayChanges: Sendable {
    private let waiting = NIOLockedValueBox<[ReplayPosition]>([])

    func add(_ position: ReplayPosition) {
        self.waiting.withLockedValue { waiting in
            if let last = waiting.last, last.isPaused == position.isPaused, last.speed == position.speed {
                waiting.removeLast()
            }
            waiting.append(position)
        }
    }

    /// Removes and returns the changes, in order.
    func take() -> [ReplayPosition] {
        self.waiting.withLockedValue { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}

extension RelayHub {
    /// Reports a change of the replay to the clients.
    func replayChanged(_ position: ReplayPosition) {
        guard !self.isStopped else { return }
        // First, because trades played at the new speed come after this.
        self.setFeedWaits(position.speed == nil)
        self.replayStood(isPaused: position.isPaused)
        let message = self.message()
        for session in self.sessions.values { session.replayChanged(position, message) }
        self.flush()
    }
}
