package import Market
import NIOCore
import Wire

/// Changes of the display by other parts of the program than the feed.
extension PriceDisplay {
    /// Begins the charts with earlier bars. Callable from any thread, at any time; does nothing without a screen.
    package func begin(with earlier: [EarlierBars]) {
        self.change { $0.begin(with: earlier, wall: self.wallClock()) }
    }

    /// Counts changes from these prices where the venue publishes none. Callable from any thread.
    package func count(from references: [ChangeReference]) { self.change { $0.count(from: references) } }

    /// Returns the symbols on the screen for which the venue has not published the price of 24 hours ago. Callable from
    /// any thread.
    package func symbolsWithoutDay() async -> [String] {
        (try? await self.loop.submit { self.withState { $0.model.symbolsWithoutDay } }.get()) ?? []
    }

    /// Admits a symbol that is being subscribed, even if it was removed before. Callable from any thread.
    package func symbolAwaited(_ symbol: String) { self.change { $0.symbolAwaited(symbol) } }

    /// Records that a subscription failed. Callable from any thread.
    package func symbolDenied(_ symbol: String) { self.change { $0.symbolDenied(symbol) } }

    /// Shows a symbol that was added to the watchlist, with its last known price. Callable from any thread.
    package func symbolAdded(_ symbol: String) {
        self.changeState { state in
            state.model.symbolAdded(symbol)
            state.model.happened("\(symbol) is added", at: self.wallClock())
            self.recall(symbol, in: &state)
        }
    }

    /// Shows the last known price of a symbol that has no row.
    func recall(_ symbol: String, in state: inout State) {
        guard let known = self.prices.board.summary(of: symbol), let newest = state.newest else { return }
        let arrived = newest.monotonic - (newest.received - known.received)
        state.model.recalled(known, age: self.now - arrived, now: self.now)
    }

    /// Hides a symbol, even if others subscribe to it. Callable from any thread.
    package func symbolRemoved(_ symbol: String) {
        self.change { model in
            model.symbolRemoved(symbol)
            model.happened("\(symbol) is removed", at: self.wallClock())
        }
    }

    /// Shows a warning on the screen for a while; does nothing without a screen. Callable from any thread.
    package func notice(_ text: String) { self.change { $0.noticed(text, now: self.now, at: self.wallClock()) } }

    /// Shows how far the way from the demo to the live market is, in one line. Callable from any thread.
    package func liveStart(_ text: String) {
        self.change { model in
            guard model.state.liveStart != text else { return }
            model.state.liveStart = text
            model.happened(text, at: self.wallClock())
        }
    }

    /// Shows that the replay was moved, paused or resumed. Callable from any thread.
    package func replayMoved() {
        guard let replay else { return }
        self.replayTask.request {
            self.withState { state in
                let isPaused = replay()?.isPaused ?? false
                if isPaused != state.isPaused { self.output.show(.paused(isPaused, since: self.wallClock())) }
                state.isPaused = isPaused
                if replay()?.isAtEnd == true, state.model.state.replay?.isAtEnd != true {
                    state.model.happened("ENDED: \(ReplayEnd.closeReason)", at: self.wallClock())
                }
                self.publish(&state)
            }
        }
    }

    /// Shows the relay's new state. Callable from any thread.
    package func relayChanged() { self.change { _ in } }

    /// Changes the model on the loop; does nothing without a screen. Callable from any thread.
    private func change(_ body: @escaping @Sendable (inout DisplayModel) -> Void) {
        self.changeState { body(&$0.model) }
    }

    private func changeState(_ body: @escaping @Sendable (inout State) -> Void) {
        guard self.output.isScreen else { return }
        self.loop.execute {
            self.withState { state in
                body(&state)
                self.publish(&state)
            }
        }
    }

    /// Shows the alerts and their states. On the loop only.
    package func alertsChanged(_ alerts: [ListedAlert]) {
        self.withState { state in
            state.model.state.alerts = alerts
            self.publishSoon(&state)
        }
    }

    /// Shows an alert that fired: as a line, and with the terminal's own signals. Callable from any thread.
    package func fired(_ alert: Alert, actions: Set<AlertAction>) {
        self.output.show(.alert(alert, call: AlertText.call(alert, actions)))
    }
}
