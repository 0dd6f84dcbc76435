import Market
import Testing
import TickertapeTesting
import Wire
@testable import Feeds

/// Tests of real and apparent repeats on connections to the service and to another program.
@Suite("Possible repeats")
struct RepeatTests {
    private func isMarked(_ bench: FeedBench) -> [Bool] {
        bench.log.contents.trades.map { $0.marks.contains(.possibleRepeat) }
    }

    private func marked(_ bench: FeedBench) -> Int {
        bench.log.contents.losses.reduce(0) { $0 + $1.possibleRepeats }
    }

    private func leftOut(_ bench: FeedBench) -> Int {
        bench.log.contents.losses.reduce(0) { $0 + $1.repeatedTrades }
    }

    @Test("two equal frames of one trade, and 20 equal fills in two of ten, are all on the tape, the later marked")
    func equalFrames() {
        let bench = FeedBench()
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1))
        bench.connections[0].send(FeedBench.trade("A", 1))
        let fills = FeedBench.trade("A", 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
        bench.connections[0].send(fills, fills)
        #expect(bench.log.contents.trades.count == 22 && bench.log.contents.sequences == Array(1...22))
        let ten = (first: [Bool](repeating: false, count: 10), again: [Bool](repeating: true, count: 10))
        #expect(self.isMarked(bench) == [false, true] + ten.first + ten.again)
        #expect(self.marked(bench) == 11 && self.leftOut(bench) == 0)
        #expect(bench.log.contents.losses.reduce(0) { $0 + $1.repeatedFrames } == 2)
        bench.stop()
    }

    @Test("an equal frame after two seconds, or on another connection, is not a repeat")
    func noRepeat() {
        let bench = FeedBench()
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1))
        bench.advance(milliseconds: 2_001)
        bench.connections[0].send(FeedBench.trade("A", 1))
        #expect(self.isMarked(bench) == [false, false])
        bench.stop()
    }

    @Test("if the user wishes, repeated frames and likely repeats after a break are left out and counted")
    func dropped() throws {
        let bench = FeedBench { $0.dropsRepeats = true }
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1), FeedBench.trade("A", 1), FeedBench.trade("A", 2, 3))
        bench.connections[0].reset()
        bench.advance(milliseconds: 2_000)
        let second = try #require(bench.connections.last)
        second.send(FeedBench.trade("A", 2, 3, 4))
        #expect(bench.log.contents.lines == ["A 10 1", "A 10 2", "A 10 3", "A 10 4"])
        #expect(self.leftOut(bench) == 3 && self.marked(bench) == 0)
        #expect(bench.log.contents.gaps.map(\.overlap) == [2])
        #expect(bench.log.contents.gaps.map(\.overlapBounds) == [OverlapBounds(least: 2, most: 2)])
        bench.stop()
    }

    @Test(
        "after a break all trades are on the tape, repeats of earlier ones are marked, and the gap has the bounds",
        arguments: [[2], [3], [2, 3], [1, 2, 3]]
    )
    func afterBreak(again: [Int]) throws {
        let bench = FeedBench()
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1, 2, 3))
        bench.connections[0].reset()
        bench.advance(milliseconds: 2_000)
        let second = try #require(bench.connections.last)
        for number in again + [4] {
            // One read for each trade, of which a feed could detect nothing by frames.
            second.send(FeedBench.trade("A", number))
        }
        #expect(bench.log.contents.lines == ([1, 2, 3] + again + [4]).map { "A 10 \($0)" })
        #expect(self.isMarked(bench) == [false, false, false] + again.map { _ in true } + [false])
        let gap = try #require(bench.log.contents.gaps.first)
        #expect(bench.log.contents.gaps.count == 1 && gap.overlapBounds?.most == again.count)
        #expect(gap.overlapBounds?.least == (again.count > 1 ? again.count : 0), "\(again)")
        // The gap precedes the first trade that cannot be from before it.
        #expect(bench.log.contents.order.last == "read 1" && bench.log.contents.order.dropLast().last == "gap")
        #expect(gap.nextSequence == UInt64(4 + again.count))
        bench.stop()
    }

    @Test("80 trades that are sent again are all marked")
    func many() throws {
        let bench = FeedBench()
        bench.start()
        for number in 1...100 { bench.connections[0].send(FeedBench.trade("A", number)) }
        bench.connections[0].reset()
        bench.advance(milliseconds: 2_000)
        let second = try #require(bench.connections.last)
        for number in 21...101 { second.send(FeedBench.trade("A", number)) }
        #expect(self.isMarked(bench).count { $0 } == 80 && bench.log.contents.trades.count == 181)
        #expect(bench.log.contents.gaps.map(\.overlapBounds) == [OverlapBounds(least: 80, most: 80)])
        bench.stop()
    }

    @Test("a gap that no new trade ends is reported with the repeats until then")
    func onlyOld() throws {
        let bench = FeedBench()
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1, 2))
        bench.connections[0].reset()
        bench.advance(milliseconds: 1_000)
        let second = try #require(bench.connections.last)
        second.send(FeedBench.trade("A", 2))
        #expect(bench.log.contents.gaps == [])
        bench.advance(milliseconds: 6_000)
        #expect(bench.log.contents.gaps.map(\.overlapBounds) == [OverlapBounds(least: 0, most: 1)])
        bench.stop()
    }

    @Test("through another program's relay, which may have cut them, equal frames prove nothing, and none is left out")
    func relayed() throws {
        let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(relay))))
        for drops in [false, true] {
            let bench = FeedBench {
                $0.holding = KeyHolding(ownership: ownership)
                $0.dropsRepeats = drops
            }
            bench.start()
            let attached = bench.connections[try #require(bench.ways.firstIndex(of: FeedBench.relayPath))]
            attached.send(FeedBench.trade("A", 1), FeedBench.trade("A", 1), FeedBench.trade("A", 2))
            #expect(self.isMarked(bench) == [false, false, false] && self.leftOut(bench) == 0)
            attached.reset()
            bench.advance(milliseconds: 5_000)
            let place = try #require(bench.ways.lastIndex(of: FeedBench.relayPath))
            #expect(bench.connections[place] !== attached)
            bench.connections[place].send(FeedBench.trade("A", 1, 2, 3))
            #expect(self.isMarked(bench) == [false, false, false, true, true, false], "\(drops)")
            #expect(self.leftOut(bench) == 0)
            bench.stop()
        }
    }

    @Test("the same holds if upstream.url names a relay that identifies itself")
    func namedRelay() throws {
        for drops in [false, true] {
            let bench = FeedBench { $0.dropsRepeats = drops }
            bench.isRelay = true
            bench.start()
            let frame = FeedBench.trade("A", 1)
            bench.connections[0].send(frame, frame)
            #expect(self.isMarked(bench) == [false, false] && self.leftOut(bench) == 0)
            // The service itself at the same address does not identify itself as a relay.
            bench.isRelay = false
            bench.connections[0].reset()
            bench.advance(milliseconds: 5_000)
            try #require(bench.connections.last).send(FeedBench.trade("A", 2), FeedBench.trade("A", 2))
            #expect(drops ? self.leftOut(bench) == 1 : self.isMarked(bench).last == true, "\(drops)")
            bench.stop()
        }
    }

    @Test(
        "a replay, a demo and a simulation keep all of them, unmarked, whatever the setting says",
        arguments: [.replay(file: "a.jsonl", speed: 1), .demo, .simulated(seed: 1, speed: 1)] as [FeedStatus.Source]
    )
    func played(source: FeedStatus.Source) throws {
        for drops in [false, true] {
            let bench = FeedBench {
                $0.source = source
                $0.dropsRepeats = drops
            }
            bench.start()
            bench.connections[0].send(FeedBench.trade("A", 1), FeedBench.trade("A", 1), FeedBench.trade("A", 1, 2))
            #expect(self.isMarked(bench) == [false, false, false, false], "\(drops)")
            #expect(self.leftOut(bench) == 0 && self.marked(bench) == 0, "\(drops)")
            bench.stop()
        }
    }
}
