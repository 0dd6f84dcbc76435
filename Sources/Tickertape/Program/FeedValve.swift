import NIOConcurrencyHelpers
import Wire

/// The brake of a replay, for a relay that is made before the feed: what it wants until then is done when the feed is there.
final class FeedValve: FlowControl {
    private struct State {
        var feed: (any FlowControl)?
        var isPaused = false
    }

    private let state = NIOLockedValueBox(State())

    // The feed is called under the lock, so that it hears everything in order. It only notes what it is asked.

    func connect(_ feed: any FlowControl) {
        self.state.withLockedValue { state in
            state.feed = feed
            if state.isPaused { feed.pause() }
        }
    }

    func pause() { self.setPaused(true) }

    func resume() { self.setPaused(false) }

    private func setPaused(_ isPaused: Bool) {
        self.state.withLockedValue { state in
            state.isPaused = isPaused
            guard let feed = state.feed else { return }
            isPaused ? feed.pause() : feed.resume()
        }
    }
}
