import NIOConcurrencyHelpers
import Wire

/// The decision when a feed that can wait is asked to, and when it may go on: it waits as long as the outbox is high or
/// any lossless client is slow. A replay at a pace of its own waits for nobody, and begins to when it is sped up to `max`.
package final class FlowGate: Sendable {
    private struct State {
        var waits = true
        var isOutboxHigh = false
        var slowClients = 0
        var isPaused = false
        /// Who waits until the feed may go on.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let control: any FlowControl
    private let state = NIOLockedValueBox(State())

    init(_ control: any FlowControl) { self.control = control }

    /// Notes that the feed is to wait for its readers from now on, or not any more.
    func feedWaits(_ waits: Bool) { self.change { $0.waits = waits } }

    /// Takes in that something was put into the outbox or taken out of it. The level is read under the lock: a writer that
    /// has seen it high must not report so after the reader has emptied it, for then nobody would ever let the feed go on.
    func outboxChanged(_ outbox: RelayOutbox) { self.change { $0.isOutboxHigh = outbox.isHigh } }

    func clientBecameSlow() { self.change { $0.slowClients += 1 } }

    func clientCaughtUp() {
        self.change {
            precondition($0.slowClients > 0, "a client caught up that was not slow")
            $0.slowClients -= 1
        }
    }

    /// Waits until nobody holds up the feed.
    func opens() async {
        await withCheckedContinuation { waiter in
            let isOpen = self.state.withLockedValue { state in
                if state.isPaused { state.waiters.append(waiter) }
                return !state.isPaused
            }
            if isOpen { waiter.resume() }
        }
    }

    /// The control is called under the lock, so that the two loops' calls come in the order of their decisions.
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
