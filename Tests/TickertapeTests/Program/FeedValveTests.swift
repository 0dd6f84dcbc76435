import NIOConcurrencyHelpers
import Testing
import Wire
@testable import Tickertape

@Suite("The brake between the relay and the feed")
struct FeedValveTests {
    private final class Feed: FlowControl {
        let heard = NIOLockedValueBox<[String]>([])
        func pause() { self.heard.withLockedValue { $0.append("pause") } }
        func resume() { self.heard.withLockedValue { $0.append("resume") } }
    }

    @Test("a pause that is wanted before there is a feed begins as soon as it is there")
    func keeps() {
        let valve = FeedValve()
        valve.pause()
        let feed = Feed()
        valve.connect(feed)
        valve.resume()
        #expect(feed.heard.withLockedValue { $0 } == ["pause", "resume"])
    }
}
