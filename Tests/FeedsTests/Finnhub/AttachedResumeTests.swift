import Feeds
import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire

@Suite("A program attached to another one's relay, after a break")
struct AttachedResumeTests {
    private static let owner = KeyClaim.others(
        KeyOwner(pid: 9, relay: .at(UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)))
    )

    private static let gap =
        #"{"type":"gap","from":1,"to":2,"reason":"lost","nextSeq":102,"epoch":5,"overlap":null,"cause":"closed"}"#

    private func attached(_ ownership: FakeOwnership = FakeOwnership(Self.owner)) -> FeedBench {
        let bench = FeedBench {
            $0.holding = KeyHolding(ownership: ownership)
            $0.symbols = ["A", "B"]
        }
        bench.start()
        bench.advance(seconds: 1)
        return bench
    }

    /// The newest connection to the owner's frames.
    private func relay(_ bench: FeedBench) throws -> FeedBench.Connection {
        bench.connections[try #require(bench.ways.lastIndex(of: FeedBench.relayPath))]
    }

    private func frame(_ symbol: String, _ number: Int) -> String {
        #"{"type":"frame","at":"5:\#(100 + number)","frame":\#(FeedBench.trade(symbol, number))}"#
    }

    @Test("asks for what it missed, and has no gap and the bytes and numbers of one without a break")
    func resumes() throws {
        let bench = self.attached()
        let first = try self.relay(bench)
        #expect(try first.takeTexts().allSatisfy { $0.contains(#""type":"subscribe""#) })
        first.send(#"{"type":"position","at":"5:100"}"#)
        first.send(self.frame("A", 1), self.frame("B", 2))
        first.reset()
        bench.advance(seconds: 1)
        let second = try self.relay(bench)
        #expect(second !== first)
        #expect(
            try second.takeTexts().first == #"{"type":"resume","symbols":["A","B"],"since":"5:102"}"#
        )
        second.send(#"{"type":"position","at":"5:104"}"#)
        second.send(#"{"type":"resumed","complete":true}"#, self.frame("A", 3))
        // A second break before all has come.
        second.reset()
        bench.advance(seconds: 1)
        let third = try self.relay(bench)
        #expect(try third.takeTexts().first?.contains(#""since":"5:103""#) == true)
        third.send(#"{"type":"resumed","complete":true}"#, self.frame("B", 4))
        third.send(self.frame("A", 5))
        #expect(bench.log.contents.frames == zip(["A", "B", "A", "B", "A"], 1...).map { FeedBench.trade($0, $1) })
        #expect(bench.log.contents.gaps == [])
        #expect(bench.log.contents.sequences == [1, 2, 3, 4, 5])
        #expect(bench.log.contents.losses.allSatisfy { $0 == TapeBatch.Losses() })
        bench.stop()
        #expect(bench.log.contents.gaps == [])
    }

    @Test("has one gap if the owner does not have everything, and it stays one after another break")
    func incomplete() throws {
        let bench = self.attached()
        try self.relay(bench).send(self.frame("A", 1))
        try self.relay(bench).reset()
        bench.advance(seconds: 1)
        try self.relay(bench).send(#"{"type":"resumed","complete":false}"#)
        try self.relay(bench).reset()
        bench.advance(seconds: 1)
        try self.relay(bench).send(#"{"type":"resumed","complete":true}"#, self.frame("A", 4))
        #expect(bench.log.contents.gaps.count == 1 && bench.log.contents.gaps.first?.nextSequence == 2)
        bench.stop()
    }

    @Test("has one gap from the first break on if it loses the owner before it has what it missed")
    func lostMeanwhile() throws {
        for isThere in [true, false] {
            let bench = self.attached()
            try self.relay(bench).send(self.frame("A", 1))
            try self.relay(bench).reset()
            bench.advance(seconds: 1)
            try self.relay(bench).send(#"{"type":"resumed","complete":true}"#, self.frame("A", 2))
            if isThere { try self.relay(bench).send(#"{"type":"position","at":"5:102"}"#) }
            try self.relay(bench).reset()
            bench.advance(seconds: 1)
            #expect(try self.relay(bench).takeTexts().first?.contains(#""since":"5:102""#) == true)
            try self.relay(bench).send(#"{"type":"resumed","complete":false}"#, self.frame("A", 4))
            let gap = try #require(bench.log.contents.gaps.first)
            #expect(bench.log.contents.gaps.count == 1 && gap.nextSequence == 3)
            // The second break was a second after the first one.
            #expect((gap.to - gap.from < 1_500_000_000) == isThere)
            bench.stop()
        }
    }

    @Test("has the owner's gaps at their place between the frames")
    func ownerGap() throws {
        let bench = self.attached()
        try self.relay(bench).send(self.frame("A", 1), Self.gap, self.frame("A", 2))
        #expect(bench.log.contents.gaps.map(\.nextSequence) == [2])
        #expect(bench.log.contents.gaps.map(\.reason) == ["lost"])
        // The owner's status comes with the same gap, which counts once.
        bench.connections[try #require(bench.ways.firstIndex(of: "/v1/stream"))].send(Self.gap)
        #expect(bench.log.contents.gaps.count == 1 && bench.log.contents.sequences == [1, 2])
        bench.stop()
    }

    @Test("takes the gaps from the connection for the status if the relay sends positions no longer")
    func olderSuccessor() throws {
        let bench = self.attached()
        try self.relay(bench).send(self.frame("A", 1))
        try self.relay(bench).reset()
        bench.advance(seconds: 1)
        try self.relay(bench).send(FeedBench.trade("A", 3))
        bench.connections[try #require(bench.ways.lastIndex(of: "/v1/stream"))].send(Self.gap)
        #expect(bench.log.contents.gaps.map(\.nextSequence) == [2, 3])
        #expect(bench.log.contents.gaps.last?.reason == "lost")
        bench.stop()
    }

    @Test("has a gap if the owner is of an older version, which sends no positions")
    func olderOwner() throws {
        let bench = self.attached()
        try self.relay(bench).send(FeedBench.trade("A", 1))
        try self.relay(bench).reset()
        bench.advance(seconds: 1)
        #expect(try self.relay(bench).takeTexts().allSatisfy { $0.contains(#""type":"subscribe""#) })
        try self.relay(bench).send(FeedBench.trade("A", 3))
        #expect(bench.log.contents.gaps.count == 1)
        bench.stop()
    }

    @Test("goes on with its own numbers and a gap when it takes over")
    func takeover() throws {
        let ownership = FakeOwnership(Self.owner)
        let bench = self.attached(ownership)
        try self.relay(bench).send(self.frame("A", 1), self.frame("B", 2))
        ownership.change(.mine)
        try self.relay(bench).reset()
        bench.advance(seconds: 1)
        #expect(bench.ways.last == .some(nil))
        let service = try #require(bench.connections.last)
        #expect(try service.takeTexts().allSatisfy { $0.contains(#""type":"subscribe""#) })
        service.send(FeedBench.trade("A", 4))
        #expect(bench.log.contents.sequences == [1, 2, 3])
        #expect(bench.log.contents.gaps.map(\.nextSequence) == [3])
        bench.stop()
    }
}
