import NIOConcurrencyHelpers
import Wire

/// The decision when a feed that can wait is paused and resumed.
///
/// It is paused while the outbox is above its high mark or any lossless client is slow. A replay at a fixed speed never
/// waits; it does once its speed is set to `max`.
package final class FlowGate: Sendable {
    private struct State {
        var waits = true
        var isOutboxHigh = false
        var slowClients = 0
        var isPaused = false
        /// The tasks that wait until the feed may go on.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let control: any FlowControl
    private let state = NIOLockedValueBox(State())

    init(_ control: any FlowControl) { self.control = control }

    /// Changes whether the feed waits for its readers.
    func feedWaits(_ waits: Bool) { self.change { $0.waits = waits } }

    /// Notes that the outbox was filled or emptied. The level is read under the lock. Otherwise a writer could report a
    /// high level after the reader has emptied the outbox, and nothing would resume the feed.
    func outboxChanged(_ outbox: RelayOutbox) { self.change { $0.isOutboxHigh = outbox.isHigh } }

    func clientBecameSlow() { self.change { $0.slowClients += 1 } }

    func clientCaughtUp() {
        self.change {
            precondition($0.slowClients > 0, "a client caught up that was not slow")
            $0.slowClients -= 1
        }
    }

    /// Waits until nothing holds up the feed.
    func opens() async {
        await withCheckedContinuation { waiter in
            let isOpen = self.state.withLockedValue { state in
                if state.isPaused { state.waiters.append(waiter) }
                return !state.isPaused
            }
            if isOpen { waiter.resume() }
        }
    }

    /// Applies a change, then pauses or resumes the feed. The control is called under the lock, so that the calls of
    /// the two loops arrive in the order of their decisions.
    private func change(_ change: (inout State) -> Void) {
        self.state.withLockedValue { state in
            change(&state)
            let mustPause = state.waits && (state.isOutboxHigh || state.slowClients > 0)
            guard mustPause != state.isPaused else { return }
            state.isPaused = mustPause
            if mustPause { return self.control.pause() }
            self.control.resume()
            for waiter in state.waiters { waiter.resume() }
            state.waiters = []
        }
    }
}
