package import Market
import NIOCore
import Wire

/// What others than the feed tell the screen.
extension PriceDisplay {
    /// Begins the charts with bars of before. From any thread, at any time; without a screen, nothing.
    package func begin(with earlier: [EarlierBars]) {
        self.change { $0.begin(with: earlier, wall: self.wallClock()) }
    }

    /// Lets in what comes of a symbol that is being asked for, also where it was removed before. From any thread.
    package func symbolAwaited(_ symbol: String) { self.change { $0.symbolAwaited(symbol) } }

    /// Notes that a symbol that was awaited cannot be had. From any thread.
    package func symbolDenied(_ symbol: String) { self.change { $0.symbolDenied(symbol) } }

    /// Shows a symbol that is wanted from now on, with the price that is known of it. From any thread.
    package func symbolAdded(_ symbol: String) {
        self.changeState { state in
            state.model.symbolAdded(symbol)
            state.model.happened("\(symbol) is added", at: self.wallClock())
            self.recall(symbol, in: &state)
        }
    }

    /// Shows what is known of a symbol of which nothing is shown.
    func recall(_ symbol: String, in state: inout State) {
        guard let known = self.prices.board.summary(of: symbol), let newest = state.newest else { return }
        let arrived = newest.monotonic - (newest.received - known.received)
        state.model.recalled(known, age: self.now - arrived, now: self.now)
    }

    /// Shows a symbol no more, whoever else wants it. From any thread.
    package func symbolRemoved(_ symbol: String) {
        self.change { model in
            model.symbolRemoved(symbol)
            model.happened("\(symbol) is removed", at: self.wallClock())
        }
    }

    /// Shows a warning in the picture for a while; without a picture, nothing. From any thread.
    package func notice(_ text: String) { self.change { $0.noticed(text, now: self.now, at: self.wallClock()) } }

    /// Shows that the replay has been moved, stopped or let go. From any thread.
    package func replayMoved() {
        guard let replay else { return }
        self.loop.execute {
            self.state.withValue { state in
                let isPaused = replay()?.isPaused ?? false
                if isPaused != state.isPaused { self.output.show(.paused(isPaused, since: self.wallClock())) }
                state.isPaused = isPaused
                self.publish(&state)
            }
        }
    }

    /// Shows what has become of the relay. From any thread.
    package func relayChanged() { self.change { _ in } }

    /// Changes what the screen shows, on the loop; without a screen, nothing. From any thread.
    private func change(_ body: @escaping @Sendable (inout DisplayModel) -> Void) {
        self.changeState { body(&$0.model) }
    }

    private func changeState(_ body: @escaping @Sendable (inout State) -> Void) {
        guard self.output.isScreen else { return }
        self.loop.execute {
            self.state.withValue { state in
                body(&state)
                self.publish(&state)
            }
        }
    }

    /// Shows the alerts that are set, and where they stand. On the loop only.
    package func alertsChanged(_ alerts: [ListedAlert]) {
        self.state.withValue { state in
            state.model.state.alerts = alerts
            self.publishSoon(&state)
        }
    }

    /// Tells of an alert: as a line, and to the terminal by its own means. From any thread.
    package func fired(_ alert: Alert, actions: Set<AlertAction>) {
        self.output.show(.alert(alert, call: AlertText.call(alert, actions)))
    }
}
