import Feeds
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting

@Suite("A feed whose key other programs may share")
struct SharedKeyFeedTests {
    private static let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)

    @Test("uses the owner's relay, takes over within 600 ms of the owner's end, and reports it")
    func takesOver() {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let notebook = Notebook()
        let bench = FeedBench { $0.holding = KeyHolding(ownership: ownership, attemptStore: notebook) }
        bench.start()
        bench.advance(seconds: 3)
        #expect(Set(bench.log.contents.statuses.map(\.via)) == ["127.0.0.1:8080"])
        #expect(bench.reasons.first?.contains("another tickertape (pid 9) holds the key") == true)
        #expect(notebook.load() == nil)
        ownership.change(.mine)
        let before = bench.log.contents.statuses.count
        bench.advance(seconds: 0.6)
        let since = bench.log.contents.statuses.dropFirst(before)
        #expect(since.map(\.word) == ["connecting", "waiting"] && since.allSatisfy { $0.via == nil })
        #expect(bench.ways == ["/v1/stream", FeedBench.relayPath, nil])
        #expect(since.first?.reason == "the tickertape that held the key (pid 9) has gone")
        #expect(notebook.load()?.failures == 1)
        bench.stop()
        #expect(ownership.isReleased)
    }

    @Test("takes over at once when the owner's relay ends with it, and reports no lost relay")
    func takesOverAtOnce() throws {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let bench = FeedBench { $0.holding = KeyHolding(ownership: ownership) }
        bench.start()
        bench.advance(seconds: 3.1)
        ownership.change(.mine)
        bench.connections[try #require(bench.ways.firstIndex(of: FeedBench.relayPath))].reset()
        bench.advance(milliseconds: 1)
        #expect(bench.attempts == [0, 3_100] && bench.ways.last == .some(nil))
        #expect(!bench.log.contents.words.contains("reconnecting"))
        bench.stop()
    }

    @Test(
        "tries the owner's relay again after 0.5, 1 and then 2 s, whatever that says, and from the start once it opened"
    )
    func relayLost() throws {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let bench = FeedBench { $0.holding = KeyHolding(ownership: ownership) }
        bench.relayFailure = UpstreamFailure("the token is not accepted", disposition: .keyRejected)
        bench.start()
        bench.advance(seconds: 6)
        #expect(bench.attempts == [0, 500, 1_500, 3_500, 5_500])
        let words = "the relay of pid 9, which holds the key: the token is not accepted"
        #expect(bench.reasons.contains(words) && Set(bench.log.contents.words) == ["connecting", "reconnecting"])
        bench.relayFailure = nil
        bench.advance(seconds: 2)
        #expect(bench.log.contents.statuses.last?.via == "127.0.0.1:8080")
        bench.connections[try #require(bench.ways.lastIndex(of: FeedBench.relayPath))].reset()
        bench.advance(milliseconds: 500)
        #expect(bench.attempts.suffix(2) == [7_500, 8_500])
        bench.stop()
    }

    @Test("takes over within 600 ms of the owner's end while its relay's address answers nothing")
    func takesOverFromHangingRelay() throws {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let bench = FeedBench { $0.holding = KeyHolding(ownership: ownership) }
        bench.relayHangs = true
        bench.start()
        bench.advance(seconds: 3)
        #expect(bench.attempts == [0] && bench.hanging.count == 1)
        ownership.change(.mine)
        bench.advance(seconds: 0.6)
        #expect(bench.attempts.count == 2 && bench.connections.last?.isOpen == true)
        #expect(bench.reasons.last == "the tickertape that held the key (pid 9) has gone")
        let count = bench.log.contents.events.count
        // A late answer of the hung relay changes nothing.
        for hanging in bench.hanging {
            let late = EmbeddedChannel(loop: bench.loop)
            #expect(throws: ChannelError.self) { try hanging.reached(late) }
            try hanging.connected(late, false)
        }
        #expect(bench.log.contents.events.count == count)
        bench.stop()
    }

    @Test("leaves no timer behind when it is stopped in the turn in which one is due")
    func stoppedByTimer() {
        let loop = EmbeddedEventLoop()
        weak var feed: (any Feed)?
        do {
            let bench = FeedBench(loop: loop) { $0.holding = KeyHolding(ownership: FakeOwnership(.mine)) }
            feed = bench.feed
            // The check of the key is due in the same turn, but later.
            loop.scheduleTask(in: .milliseconds(500)) { bench.feed.stop() }
            bench.start()
            bench.advance(seconds: 0.4)
            bench.connections[0].reset()
            bench.advance(seconds: 60)
            #expect(bench.ended != nil)
        }
        #expect(feed == nil)
    }

    @Test("waits for an owner without a relay, says what to do, and takes over at its end")
    func ownerWithoutRelay() {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .off)))
        let bench = FeedBench { $0.holding = KeyHolding(ownership: ownership) }
        bench.start()
        bench.advance(seconds: 60)
        #expect(bench.log.contents.statuses.map(\.word) == ["key-in-use"])
        // The attempt comes when the owner ends; a time would be over soon.
        #expect(bench.log.contents.statuses.last?.phase == .keyInUse(retryAt: nil))
        #expect(bench.reasons.first?.contains("(pid 9) holds this key and has no relay") == true)
        ownership.change(.mine)
        bench.advance(seconds: 1)
        #expect(bench.attempts.count == 1)
        bench.stop()
    }

    private final class Permission: UpstreamPermission {
        var isAllowed: Bool { true }
        func opened(_ connection: any GuardedConnection) {}
        func closed(_ connection: any GuardedConnection) {}
    }

    @Test(
        "an ingest does not use the owner's relay: it waits, and connects at the owner's end, or ends at once",
        arguments: [false, true]
    )
    func ingest(isFenced: Bool) {
        let loop = EmbeddedEventLoop()
        let permission = NIOLoopBound<any UpstreamPermission>(Permission(), eventLoop: loop)
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let bench = FeedBench(loop: loop) {
            $0.holding = KeyHolding(ownership: ownership)
            $0.permission = permission
        }
        bench.start()
        bench.advance(seconds: 60)
        #expect(bench.attempts.isEmpty && bench.log.contents.words == ["key-in-use"])
        #expect(bench.reasons == ["another tickertape (pid 9) on this machine holds this key: stop it"])
        if isFenced {
            bench.feed.abandon()
            bench.advance(milliseconds: 1)
            #expect(bench.ended != nil && ownership.isReleased)
        } else {
            ownership.change(.mine)
            bench.advance(seconds: 0.6)
            #expect(bench.attempts.count == 1)
        }
        bench.stop()
    }

    @Test("disconnects from the service when the key proves to be another program's")
    func yields() {
        let ownership = FakeOwnership(.mine)
        let bench = FeedBench { $0.holding = KeyHolding(ownership: ownership) }
        bench.start()
        bench.advance(seconds: 3)
        #expect(bench.attempts.count == 1)
        ownership.change(.others(nil))
        bench.advance(seconds: 3.6)
        #expect(bench.reasons.last == "waiting for the other tickertape to open its relay")
        #expect(bench.connections.count == 1 && bench.connections.allSatisfy { !$0.isOpen })
        bench.stop()
    }
}
