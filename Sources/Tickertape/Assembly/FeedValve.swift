import Feeds
import NIOConcurrencyHelpers
import Wire

/// The way back from the relay to a feed that is made after it: wishes for symbols, and the brake of a replay.
final class FeedValve: FlowControl {
    private let feed = NIOLockedValueBox<FinnhubFeed?>(nil)

    func connect(_ feed: FinnhubFeed) { self.feed.withLockedValue { $0 = feed } }

    func wish(for symbol: String) { self.feed.withLockedValue { $0 }?.wish(for: symbol) }

    func unwish(_ symbol: String) { self.feed.withLockedValue { $0 }?.unwish(symbol) }

    func pause() { self.feed.withLockedValue { $0 }?.pause() }

    func resume() { self.feed.withLockedValue { $0 }?.resume() }
}
