import Feeds
import NIOConcurrencyHelpers
import Wire

/// What a relay asks of the feed behind it.
protocol AskedFeed: Sendable {
    func wish(for symbol: String)
    func unwish(_ symbol: String)
    func pause()
    func resume()
}

extension FinnhubFeed: AskedFeed {}

/// The way back from the relay to a feed that is made after it: wishes for symbols, and the brake of a replay.
///
/// The relay listens before there is a feed, and who was waiting at an inherited socket asks at once. So what is asked
/// until then is kept, and asked of the feed as soon as it is there; it is no more than the relay's ledger has places for.
final class FeedValve: FlowControl {
    private struct State {
        var feed: (any AskedFeed)?
        var wishes: [String] = []
        var isPaused = false
    }

    private let state = NIOLockedValueBox(State())

    // The feed is called under the lock, so that it hears everything in order. It only notes what it is asked.

    func connect(_ feed: any AskedFeed) {
        self.state.withLockedValue { state in
            state.feed = feed
            for symbol in state.wishes { feed.wish(for: symbol) }
            state.wishes = []
            if state.isPaused { feed.pause() }
        }
    }

    func wish(for symbol: String) {
        self.state.withLockedValue { state in
            if let feed = state.feed { return feed.wish(for: symbol) }
            state.wishes.append(symbol)
        }
    }

    func unwish(_ symbol: String) {
        self.state.withLockedValue { state in
            if let feed = state.feed { return feed.unwish(symbol) }
            state.wishes.removeAll { $0 == symbol }
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
