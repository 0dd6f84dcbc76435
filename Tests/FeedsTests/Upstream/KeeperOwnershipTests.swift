import Feeds
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting

@Suite("The keeper of a connection and the owner of its key")
struct KeeperOwnershipTests {
    private static let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)

    @Test("uses the owner's relay, takes over within 600 ms when the owner goes, and says so")
    func takesOver() {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let notebook = Notebook()
        let world = KeeperWorld(holding: KeyHolding(ownership: ownership, ledger: notebook)) { _ in .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 3)
        #expect(world.attachments == ["127.0.0.1:8080"])
        #expect(world.reasons.first?.contains("another tickertape (pid 9) holds the key") == true)
        #expect(notebook.load() == nil)
        ownership.change(.mine)
        let before = world.phases.count
        world.advance(seconds: 0.6)
        // The relay's connection was closed; its end, which its handler tells of, is the way on.
        world.keeper.connectionEnded(UpstreamFailure("closed"), tradedFor: 0)
        #expect(world.attachments == ["127.0.0.1:8080", nil])
        #expect(world.phases.dropFirst(before) == [.connecting])
        #expect(world.reasons.last == "the tickertape that held the key (pid 9) has gone")
        #expect(notebook.load()?.failures == 1)
        world.keeper.stop()
        world.advance(seconds: 1)
        #expect(ownership.isReleased)
    }

    @Test("takes over within 600 ms when the owner goes while its relay's address answers nothing")
    func takesOverFromHangingRelay() throws {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(Self.relay))))
        let world = KeeperWorld(holding: KeyHolding(ownership: ownership)) { $0 < 1 ? .hangs : .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 3)
        #expect(world.attempts.count == 1 && world.keeper.connection == nil)
        ownership.change(.mine)
        world.advance(seconds: 0.6)
        #expect(world.attempts.count == 2)
        #expect(world.reasons.last == "the tickertape that held the key (pid 9) has gone")
        #expect(world.connections.count == 1)
        // What the hung relay answers after all changes nothing.
        for hanging in world.hanging {
            let late = EmbeddedChannel(loop: world.loop)
            #expect(throws: ChannelError.self) { try hanging.reached(late) }
            try hanging.connected(late, false)
        }
        #expect(world.connections.count == 1)
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    @Test("leaves no timer behind when it is stopped in the turn of one")
    func stoppedByTimer() {
        let loop = EmbeddedEventLoop()
        weak var keeper: ConnectionKeeper?
        do {
            let holding = KeyHolding(ownership: FakeOwnership(.mine))
            let world = KeeperWorld(holding: holding, loop: loop) { _ in .opensAndStays }
            keeper = world.keeper
            // The look at the key is due in the same turn, and comes later.
            loop.scheduleTask(in: .milliseconds(500)) { world.keeper.stop() }
            world.keeper.start()
            world.advance(seconds: 0.4)
            world.keeper.connectionEnded(UpstreamFailure("it died"), tradedFor: 0)
            world.advance(seconds: 60)
            #expect(world.ended != nil)
        }
        #expect(keeper == nil)
    }

    @Test("waits for an owner without a relay, says what to do, and takes over when it goes")
    func ownerWithoutRelay() {
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .off)))
        let world = KeeperWorld(holding: KeyHolding(ownership: ownership)) { _ in .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 60)
        #expect(world.words == ["key-in-use"])
        #expect(world.reasons.first?.contains("(pid 9) holds this key and has no relay") == true)
        ownership.change(.mine)
        world.advance(seconds: 1)
        #expect(world.attempts.count == 1)
        world.keeper.stop()
        world.advance(seconds: 1)
    }

    @Test("gives the service up when the key turns out to be another program's")
    func yields() {
        let ownership = FakeOwnership(.mine)
        let world = KeeperWorld(holding: KeyHolding(ownership: ownership)) { _ in .opensAndStays }
        world.keeper.start()
        world.advance(seconds: 3)
        #expect(world.attempts.count == 1)
        ownership.change(.others(nil))
        world.advance(seconds: 0.6)
        world.keeper.connectionEnded(UpstreamFailure("closed"), tradedFor: 0)
        world.advance(seconds: 3)
        #expect(world.reasons.last == "waiting for the other tickertape to open its relay")
        #expect(world.keeper.connection == nil)
        world.keeper.stop()
    }
}
