import Ingest
package import Market
import NIOCore

extension PriceDisplay: SettledPriceReader {
    package func pricesSettled(_ updates: [PriceUpdate]) {
        let now = self.now
        self.holdApart(now: now)
        self.hold(updates, now: now)
    }
}

/// The publishing of states to the screen.
extension PriceDisplay {
    /// Publishes at the end of the loop's turn. The status `live` comes just before the trades that cause it: a frame
    /// drawn for the status alone would delay their price by the frame rate's interval.
    func publishSoon(_ state: inout State) {
        guard self.output.isScreen, !state.mustPublish else { return }
        state.mustPublish = true
        self.loop.execute {
            self.state.withValue { state in
                if state.mustPublish { self.publish(&state) }
            }
        }
    }

    /// Publishes prices when the screen can draw them next.
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
        self.takeHeld(&state)
        state.mustPublish = false
        state.isPublishingLater = false
        if let relay { state.model.state.relay = relay() }
        if let clients { state.model.state.clients = clients() }
        if let cluster { state.model.state.cluster = cluster() }
        if let recording { state.model.state.recording = recording() }
        if let replay { state.model.replayMoved(replay(), now: self.now) }
        state.model.state.publishedAt = self.now
        self.output.publish(state.model.state)
    }

}
