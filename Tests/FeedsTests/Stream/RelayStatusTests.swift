import Market
import Testing
@testable import Feeds

@Suite("What is true for the reader of a relay")
struct RelayStatusTests {
    @Test("is the relay's word while the link stands, and the link's state with the relay's address while not")
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
