import Market
import NIOCore

/// When the screen is given what there is to show, and when what is held back is due.
extension PriceDisplay {
    /// Publishes at the end of the loop's turn. `live` is told just before the trades that made it true: a frame drawn for
    /// the word alone would hold their price back for as long as the cap on frames wants.
    func publishSoon(_ state: inout State) {
        guard self.output.isScreen, !state.mustPublish else { return }
        state.mustPublish = true
        self.loop.execute {
            self.state.withValue { state in
                if state.mustPublish { self.publish(&state) }
            }
        }
    }

    /// Publishes prices when the screen looks at them next.
    func publishPrices(_ state: inout State, now: Int64) {
        guard let due = self.output.publishingTime(now: now) else { return self.publish(&state) }
        guard !state.isPublishingLater else { return }
        state.isPublishingLater = true
        self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(due))) {
            self.state.withValue { state in
                if state.isPublishingLater { self.publish(&state) }
            }
        }
    }

    func publish(_ state: inout State) {
        guard self.output.isScreen else { return }
        state.mustPublish = false
        state.isPublishingLater = false
        if let relay { state.model.state.relay = relay() }
        if let clients { state.model.state.clients = clients() }
        if let replay { state.model.replayMoved(replay(), now: self.now) }
        state.model.state.publishedAt = self.now
        self.output.publish(state.model.state)
    }

    /// Sees to it that what is held back comes in time; one timer, moved only when its deadline did.
    func arm(_ state: inout State) {
        guard state.pipeline.deadline != state.timerDeadline else { return }
        state.timer?.cancel()
        state.timer = nil
        state.timerDeadline = state.pipeline.deadline
        guard let deadline = state.pipeline.deadline else { return }
        state.timer = self.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(deadline, 0)))) {
            self.fire()
        }
    }

    private func fire() {
        let now = self.now
        self.state.withValue { state in
            state.timer = nil
            state.timerDeadline = nil
            var updates: [PriceUpdate] = []
            state.pipeline.fire(now: now) { updates.append($0) }
            self.show(updates, in: &state, now: now)
            self.publishPrices(&state, now: now)
            self.arm(&state)
        }
    }
}
