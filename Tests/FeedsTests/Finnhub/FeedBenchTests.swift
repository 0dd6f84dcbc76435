import Market
import NIOCore
import Testing
import TickertapeTesting
@testable import Feeds

/// Tests of the interaction of the feed's parts, in virtual time.
@Suite("The Finnhub feed on virtual time")
struct FeedBenchTests {
    private static let second: Int64 = 1_000_000_000

    @Test("subscribes to ten symbols at once and to the others 30 ms apart, in order, on every connection")
    func pacing() throws {
        let symbols = (1...14).map { "S\($0)" }
        let bench = FeedBench { $0.symbols = symbols }
        bench.start()
        for connection in 0..<2 {
            let began = bench.now
            var asked: [(at: Int64, symbol: String)] = []
            for _ in 0...200 {
                for request in try bench.connections[connection].takeRequests() {
                    asked.append((bench.now - began, request))
                }
                bench.advance(milliseconds: 1)
            }
            #expect(asked.map(\.symbol) == symbols.map { "+\($0)" })
            #expect(asked.map(\.at) == Array(repeating: 0, count: 10) + [30, 60, 90, 120])
            bench.connections[connection].reset()
            while bench.connections.count == connection + 1 { bench.advance(milliseconds: 1) }
        }
        bench.stop()
    }

    @Test("sends nothing more on a connection that ended amid its requests")
    func pacingEnds() throws {
        let bench = FeedBench { $0.symbols = (1...14).map { "S\($0)" } }
        bench.start()
        bench.advance(milliseconds: 40)
        #expect(try bench.connections[0].takeRequests().count == 11)
        bench.connections[0].reset()
        bench.advance(milliseconds: 400)
        #expect(bench.connections.count == 1)
        #expect(try bench.connections[0].takeRequests() == [])
        bench.stop()
    }

    @Test(
        "a symbol that was silent among others has its own gap; if the whole feed was silent, the gap has no symbol"
    )
    func silentSymbol() throws {
        let bench = FeedBench { $0.symbols = ["A", "B"] }
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1), FeedBench.trade("B", 1))
        for number in 2...41 {
            bench.advance(milliseconds: 1_000)
            bench.connections[0].send(FeedBench.trade("A", number))
        }
        bench.connections[0].send(FeedBench.trade("B", 2))
        let own = try #require(bench.log.contents.gaps.last)
        #expect(own.symbol == "B" && own.cause == .stale && own.to - own.from == 40 * Self.second)
        #expect(bench.log.contents.gaps.count == 1)
        // Everything is silent now; the pongs keep the connection open.
        for _ in 0..<13 {
            bench.advance(milliseconds: 10_000)
            bench.connections[0].pong()
            guard bench.connections.count == 1 else { break }
        }
        bench.connections[bench.connections.count - 1].send(FeedBench.trade("B", 3))
        let whole = try #require(bench.log.contents.gaps.last)
        #expect(bench.log.contents.gaps.count == 2 && whole.symbol == nil)
        bench.stop()
    }

    @Test("reports a gap after this computer slept, before the next trade")
    func slept() throws {
        let bench = FeedBench()
        bench.start()
        bench.advance(milliseconds: 1_000)
        bench.connections[0].send(FeedBench.trade("A", 1, 2))
        bench.advance(milliseconds: 500)
        bench.sleep(seconds: 100)
        // The service sends some of the trades again.
        bench.connections[0].send(FeedBench.trade("A", 1, 2, 3))
        let contents = bench.log.contents
        #expect(contents.lines == ["A 10 1", "A 10 2", "A 10 1", "A 10 2", "A 10 3"])
        #expect(contents.trades.map { $0.marks.contains(.possibleRepeat) } == [false, false, true, true, false])
        #expect(contents.order == ["read 2", "gap", "read 3"])
        #expect(
            contents.gaps == [
                Gap(
                    from: FeedBench.epoch + Self.second,
                    to: FeedBench.epoch + 101_500_000_000,
                    reason: "this machine slept, or its clock was set, 100 s ahead",
                    nextSequence: 3,
                    epoch: 7,
                    overlap: 2,
                    overlapBounds: OverlapBounds(least: 2, most: 2),
                    cause: .sleep
                )
            ]
        )
        #expect(bench.connections.count == 1 && bench.connections[0].isOpen)
        bench.stop()
    }

    @Test("finds by its own timer that this computer slept, if nothing comes")
    func sleptSilently() {
        let bench = FeedBench()
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1))
        bench.sleep(seconds: 600)
        bench.advance(milliseconds: 20_000)
        #expect(bench.log.contents.gaps.map(\.cause) == [.sleep])
        #expect(bench.log.contents.gaps.first?.from == FeedBench.epoch)
        // A replay misses no trades, whatever the clocks do.
        let replay = FeedBench { $0.source = .demo }
        replay.start()
        replay.connections[0].send(FeedBench.trade("A", 1))
        replay.sleep(seconds: 600)
        replay.connections[0].send(FeedBench.trade("A", 2))
        #expect(replay.log.contents.gaps == [])
        bench.stop()
        replay.stop()
    }

    @Test("puts the trades of a read that broke on the tape before the gap, not after it")
    func brokenRead() throws {
        let bench = FeedBench()
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1), isWholeRead: false)
        bench.connections[0].reset()
        #expect(bench.log.contents.lines == ["A 10 1"])
        bench.advance(milliseconds: 500)
        bench.connections[1].send(FeedBench.trade("A", 2))
        let contents = bench.log.contents
        #expect(contents.lines == ["A 10 1", "A 10 2"])
        #expect(contents.order == ["read 1", "gap", "read 1"])
        #expect(contents.gaps.map(\.nextSequence) == [2])
        #expect(contents.gaps.map(\.cause) == [.lost])
        bench.stop()
    }

    @Test("takes no message of a connection that has ended, however late it comes")
    func lateBytes() throws {
        let bench = FeedBench()
        bench.start()
        bench.connections[0].send(FeedBench.trade("A", 1))
        let old = bench.connections[0]
        old.reset()
        // Its handlers leave the pipeline a turn later.
        old.send(FeedBench.trade("A", 66))
        old.send(#"{"msg":"Invalid symbol A","type":"error"}"#, isWholeRead: false)
        bench.advance(milliseconds: 500)
        old.send(FeedBench.trade("A", 67))
        bench.connections[1].send(FeedBench.trade("A", 2))
        #expect(bench.log.contents.lines == ["A 10 1", "A 10 2"])
        #expect(bench.log.contents.frames.count == 2)
        #expect(bench.log.contents.words(of: "A") == ["asked", "live", "asked", "live"])
        old.reset()
        #expect(bench.connections[1].isOpen && bench.log.contents.words.last == "live")
        bench.stop()
    }

    @Test("leaves silent symbols to the program whose relay sends the trades, until it owns the key itself")
    func attached() throws {
        let relay = UpstreamAddress(isEncrypted: false, host: "127.0.0.1", port: 8_080)
        let ownership = FakeOwnership(.others(KeyOwner(pid: 9, relay: .at(relay))))
        let bench = FeedBench { $0.holding = KeyHolding(ownership: ownership) }
        bench.start()
        let place = try #require(bench.ways.firstIndex(of: FeedBench.relayPath))
        #expect(bench.ways.contains("/v1/stream") && !bench.ways.contains(nil))
        let attached = bench.connections[place]
        attached.send(FeedBench.trade("A", 1))
        #expect(try attached.takeRequests() == ["+A"])
        for _ in 0..<50 {
            bench.advance(milliseconds: 20_000)
            attached.pong()
        }
        #expect(bench.log.contents.words(of: "A").last == "quiet")
        #expect(try attached.takeRequests() == [])
        #expect(attached.isOpen && !bench.ways.contains(nil))
        ownership.change(.mine)
        bench.advance(milliseconds: 600)
        #expect(!attached.isOpen)
        let service = bench.connections[try #require(bench.ways.firstIndex(of: nil))]
        #expect(try service.takeRequests() == ["+A"])
        service.send(FeedBench.trade("A", 2))
        #expect(bench.log.contents.statuses.last?.via == nil && bench.log.contents.words.last == "live")
        bench.advance(milliseconds: 31_000)
        #expect(try service.takeRequests() == ["-A", "+A"])
        bench.stop()
    }
}
