import Market
import Testing
@testable import Feeds

@Suite("The status that a reader of a relay sees")
struct RelayStatusTests {
    @Test("is the relay's own while the link is open, and otherwise the link's, with the relay's address")
    func words() {
        var status = RelayStatus(FeedStatus(source: .live, phase: .connecting, since: 1), relay: "ws://relay/")
        status.linkChanged(.connecting, reason: nil, cause: nil, at: 2)
        #expect(status.status == FeedStatus(source: .live, phase: .connecting, since: 1))
        let replay = FeedStatus(source: .replay(file: "a", speed: 2), phase: .live, since: 3)
        status.relaySays(replay)
        #expect(status.status == replay)
        status.relayComplains("slow down")
        #expect(status.status.reason == "the relay says: slow down" && status.status.phase == .live)
        status.linkChanged(.reconnecting(attempt: 1, retryAt: 9), reason: "reset", cause: .lost, at: 4)
        #expect(status.status.since == 4 && status.status.cause == .lost && status.status.source == replay.source)
        #expect(status.status.reason == "no link to the relay at ws://relay/: reset")
    }
}
