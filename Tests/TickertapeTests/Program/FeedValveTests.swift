import NIOConcurrencyHelpers
import Testing
@testable import Tickertape

@Suite("The way from the relay back to the feed")
struct FeedValveTests {
    private final class Feed: AskedFeed {
        let heard = NIOLockedValueBox<[String]>([])
        func wish(for symbol: String) { self.heard.withLockedValue { $0.append("wish \(symbol)") } }
        func unwish(_ symbol: String) { self.heard.withLockedValue { $0.append("unwish \(symbol)") } }
        func pause() { self.heard.withLockedValue { $0.append("pause") } }
        func resume() { self.heard.withLockedValue { $0.append("resume") } }
    }

    @Test("what clients ask before there is a feed is asked of it as soon as it is there")
    func keeps() {
        let valve = FeedValve()
        for symbol in ["A", "B", "C"] { valve.wish(for: symbol) }
        valve.unwish("B")
        valve.pause()
        let feed = Feed()
        valve.connect(feed)
        valve.wish(for: "D")
        valve.unwish("A")
        valve.resume()
        #expect(
            feed.heard.withLockedValue { $0 } == ["wish A", "wish C", "pause", "wish D", "unwish A", "resume"]
        )
    }
}
