import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import WebSocket
@testable import Feeds

@Suite("Another key while the feed runs")
struct KeyChangeTests {
    private let old = FakeOwnership(.mine)
    private let new = FakeOwnership(.mine)

    /// A feed that is live with the first key.
    private func live(_ change: (inout FinnhubSettings) -> Void = { _ in }) throws -> FeedBench {
        let bench = FeedBench { settings in
            settings.holding = KeyHolding(ownership: self.old)
            change(&settings)
        }
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1))
        _ = try bench.connections[0].takeRequests()
        return bench
    }

    @Test("the new key's connection takes over with its first trade, and a gap marks the seam")
    func takesOver() throws {
        let bench = try self.live()
        bench.changeKey(KeyHolding(ownership: self.new))
        #expect(bench.connections.count == 2 && bench.ways.last == FeedBench.newKeyPath)
        #expect(try bench.connections[1].takeRequests() == ["+A"])
        // The old connection brings the trades meanwhile.
        bench.advance(seconds: 3)
        bench.connections[0].send(FeedBench.trade("A", 2))
        #expect(bench.keyChanges.isEmpty && bench.log.contents.gaps.isEmpty)
        bench.advance(milliseconds: 500)
        bench.connections[1].send(FeedBench.trade("A", 3))
        bench.advance(milliseconds: 1)
        #expect(bench.keyChanges == [.changed(isProven: true)])
        #expect(try bench.connections[0].takeClose())
        bench.advance(seconds: 1)
        #expect(!bench.connections[0].isOpen && bench.connections[1].isOpen)
        bench.connections[1].send(FeedBench.trade("A", 4))

        let contents = bench.log.contents
        #expect(contents.trades.map(\.price.description) == ["10", "10", "10", "10"])
        #expect(contents.order == ["read 1", "read 1", "gap", "read 1", "read 1"])
        let gap = try #require(contents.gaps.first)
        #expect(gap.cause == .keyRotated && gap.to - gap.from == 500_000_000)
        #expect(contents.statuses.last?.word == "live" && !contents.words.contains("reconnecting"))
        #expect(self.old.isReleased && !self.new.isReleased)
        // The new connection is opened again with the new key.
        bench.connections[1].reset()
        bench.advance(seconds: 10)
        #expect(bench.ways.last == FeedBench.newKeyPath && bench.connections.count == 3)
        bench.stop()
        #expect(self.new.isReleased)
    }

    @Test("the trades of the new connection are compared with those of the old one")
    func repeats() throws {
        let bench = try self.live()
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.connections[0].send(FeedBench.trade("A", 2))
        bench.connections[1].send(FeedBench.trade("A", 2, 3))
        bench.advance(milliseconds: 1)
        let gap = try #require(bench.log.contents.gaps.first)
        #expect(bench.log.contents.trades.count == 4 && gap.overlapBounds?.most == 1, "\(gap)")
        bench.stop()
    }

    @Test("a rejected key leaves the old connection as it is")
    func rejected() throws {
        let bench = try self.live()
        bench.newKeyFailure = UpstreamFailure("the key was rejected", disposition: .keyRejected)
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.advance(seconds: 1)
        #expect(bench.keyChanges == [.kept("the key was rejected")])
        #expect(self.new.isReleased && !self.old.isReleased)
        bench.connections[0].send(FeedBench.trade("A", 2))
        #expect(bench.log.contents.trades.count == 2 && bench.log.contents.gaps.isEmpty)
        #expect(bench.attempts.count == 2)
        bench.stop()
    }

    @Test("a connection that ends before its first trade, or brings none for two minutes, leaves the old one")
    func unproven() throws {
        let bench = try self.live()
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.connections[1].reset()
        bench.advance(seconds: 1)
        #expect(bench.keyChanges.count == 1 && self.new.isReleased)
        let another = FakeOwnership(.mine)
        bench.changeKey(KeyHolding(ownership: another))
        #expect(bench.connections.count == 3)
        for _ in 0..<13 {
            bench.advance(seconds: 10)
            bench.connections[0].send(FeedBench.trade("A", 2))
            if bench.connections[2].isOpen { bench.connections[2].pong() }
        }
        guard case .kept(let reason)? = bench.keyChanges.last else { Issue.record("\(bench.keyChanges)"); return }
        #expect(reason.contains("no trade within 120 s") && another.isReleased)
        #expect(!bench.connections[2].isOpen && bench.connections[0].isOpen)
        #expect(bench.log.contents.gaps.isEmpty)
        bench.stop()
    }

    @Test("a refusal of the new key is remembered for later attempts with it, and its words never hold the key")
    func refused() throws {
        let bench = try self.live()
        let notebook = Notebook()
        var failure = UpstreamFailure(
            "HTTP 429: another secret key came too often",
            disposition: .rateLimited(retryAfter: 3_600_000_000_000)
        )
        failure.cause = .rateLimited
        bench.newKeyFailure = failure
        bench.changeKey(KeyHolding(ownership: self.new, attemptStore: notebook))
        bench.advance(milliseconds: 1)
        guard case .kept(let reason)? = bench.keyChanges.last else { Issue.record("\(bench.keyChanges)"); return }
        #expect(reason.contains("429") && !reason.contains("another secret key"), "\(reason)")
        let saved = try #require(notebook.load())
        #expect(saved.kind == .rateLimited && saved.wait >= 3_600_000_000_000)
        bench.newKeyFailure = nil
        bench.changeKey(KeyHolding(ownership: FakeOwnership(.mine), attemptStore: notebook))
        bench.advance(seconds: 1)
        #expect(bench.attempts.count == 2 && bench.keyChanges.count == 2)
        bench.stop()
    }

    @Test("the words with which the service ends the new connection reach no reader with the key in them")
    func wordsOfEnd() throws {
        let bench = try self.live()
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.connections[1].channel.pipeline.syncOperations.fireUserInboundEventTriggered(
            WebSocketEvent.closed(
                WebSocketClosure(code: .normal, reason: "no more for another secret key", cause: .peerClosed)
            )
        )
        bench.connections[1].channel.close(promise: nil)
        bench.advance(seconds: 1)
        #expect(bench.keyChanges.count == 1)
        #expect(!"\(bench.log.contents.events) \(bench.keyChanges)".contains("another secret key"))
        bench.stop()
    }

    @Test("the new connection takes over only when all symbols are subscribed to on it")
    func allSymbols() throws {
        let symbols = (0..<40).map { "S\($0)" }
        let bench = try self.live { $0.symbols = ["A"] + symbols }
        bench.advance(seconds: 5)
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.connections[1].send(FeedBench.trade("A", 2))
        bench.advance(milliseconds: 1)
        #expect(bench.keyChanges.isEmpty)
        bench.advance(seconds: 5)
        #expect(try bench.connections[1].takeRequests().count == 41)
        bench.connections[1].send(FeedBench.trade("A", 3))
        bench.advance(milliseconds: 1)
        #expect(bench.keyChanges == [.changed(isProven: true)])
        bench.stop()
    }

    @Test("a key that was tried a moment ago can be tried again, and the present one needs no change")
    func again() throws {
        let bench = try self.live()
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.feed.keepKey()
        bench.changeKey(KeyHolding(ownership: FakeOwnership(.mine)))
        bench.advance(seconds: 1)
        #expect(bench.keyChanges.count == 1 && bench.connections.count == 3)
        bench.connections[2].send(FeedBench.trade("A", 3))
        bench.advance(milliseconds: 1)
        #expect(bench.keyChanges.last == .changed(isProven: true))
        bench.changeKey(KeyHolding(ownership: FakeOwnership(.mine)))
        #expect(bench.keyChanges.last == .kept("it is in use already"))
        bench.stop()
    }

    @Test("a trial leaves nothing behind")
    func leavesNothing() throws {
        weak var ownership: FakeOwnership?
        let bench = try self.live()
        for _ in 0..<2 {
            let one = FakeOwnership(.mine)
            ownership = one
            bench.changeKey(KeyHolding(ownership: one))
            bench.feed.keepKey()
            bench.advance(seconds: 200)
        }
        #expect(ownership == nil)
        bench.stop()
    }

    @Test("an old key that is rejected while the new one is being tried does not end the feed")
    func oldRejected() throws {
        let bench = try self.live()
        bench.newKeyFailure = UpstreamFailure("no answer")
        bench.connections[0].reset()
        bench.changeKey(KeyHolding(ownership: self.new))
        // Neither has a connection: the new one goes on with its own waits.
        #expect(bench.keyChanges == [.changed(isProven: false)])
        bench.newKeyFailure = nil
        bench.advance(seconds: 30)
        #expect(bench.ended == nil && bench.connections.last?.isOpen == true)
        #expect(bench.ways.last == FeedBench.newKeyPath)
        bench.stop()
    }

    @Test("a key that another program holds is not tried")
    func held() throws {
        let bench = try self.live()
        self.new.change(.others(KeyOwner(pid: 9, relay: .off)))
        bench.changeKey(KeyHolding(ownership: self.new))
        guard case .kept(let reason)? = bench.keyChanges.last else { Issue.record("\(bench.keyChanges)"); return }
        #expect(reason.contains("(pid 9) holds the new key") && bench.connections.count == 1)
        bench.stop()
    }

    @Test("when the old connection ends first, the new one takes its place, and the gap lasts until its first trade")
    func oldEndsFirst() throws {
        let bench = try self.live()
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.advance(seconds: 1)
        bench.connections[0].reset()
        bench.advance(seconds: 1)
        #expect(bench.keyChanges == [.changed(isProven: false)] && self.old.isReleased)
        bench.connections[1].send(FeedBench.trade("A", 2))
        #expect(bench.log.contents.gaps.map(\.cause) == [.keyRotated] && bench.attempts.count == 2)
        bench.stop()
    }

    @Test("without an open connection the next attempt has the new key")
    func disconnected() throws {
        let bench = try self.live()
        bench.connections[0].reset()
        bench.advance(milliseconds: 1)
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.advance(milliseconds: 1)
        #expect(bench.keyChanges == [.changed(isProven: false)] && self.old.isReleased)
        #expect(bench.ways == [nil, FeedBench.newKeyPath])
        bench.connections[1].send(FeedBench.trade("A", 2))
        #expect(bench.log.contents.statuses.last?.word == "live" && bench.log.contents.gaps.count == 1)
        bench.stop()
    }

    @Test("another program's relay is left at the first trade with the new key, and stays if that is rejected")
    func attached() {
        let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)
        let bench = FeedBench { settings in
            settings.holding = KeyHolding(
                ownership: FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(relay))))
            )
        }
        bench.start()
        bench.advance(seconds: 1)
        bench.newKeyFailure = UpstreamFailure("the key was rejected", disposition: .keyRejected)
        bench.changeKey(KeyHolding(ownership: FakeOwnership(.mine)))
        bench.advance(seconds: 1)
        #expect(bench.keyChanges == [.kept("the key was rejected")])
        #expect(bench.log.contents.statuses.last?.via == "127.0.0.1:8080")
        bench.newKeyFailure = nil
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.advance(seconds: 1)
        bench.connections[bench.connections.count - 1].send(FeedBench.trade("A", 3))
        bench.advance(seconds: 1)
        #expect(bench.keyChanges.last == .changed(isProven: true))
        #expect(bench.ways.last == FeedBench.newKeyPath && bench.log.contents.statuses.last?.via == nil)
        bench.stop()
        #expect(self.new.isReleased)
    }

    @Test("a saved wait of the new key keeps the old one, and nothing connects later")
    func savedWait() throws {
        let bench = try self.live()
        let notebook = Notebook()
        notebook.save(
            SavedBackoff(
                failures: 3,
                refusals: 1,
                briefLives: 0,
                kind: .rateLimited,
                at: FeedBench.epoch,
                wait: 600_000_000_000,
                reason: "too many"
            )
        )
        bench.changeKey(KeyHolding(ownership: self.new, attemptStore: notebook))
        guard case .kept(let reason)? = bench.keyChanges.last else { Issue.record("\(bench.keyChanges)"); return }
        #expect(reason.contains("too many") && reason.contains("later"), "\(reason)")
        bench.advance(seconds: 700)
        #expect(bench.ways.filter { $0 == FeedBench.newKeyPath }.isEmpty && self.new.isReleased)
        bench.stop()
    }

    @Test("a stop during a change closes both connections before it ends")
    func stops() throws {
        let bench = try self.live()
        bench.changeKey(KeyHolding(ownership: self.new))
        bench.stop()
        #expect(bench.ended != nil && bench.connections.allSatisfy { !$0.isOpen })
        #expect(self.old.isReleased && self.new.isReleased && bench.keyChanges == [.kept("the program stops")])
    }
}
