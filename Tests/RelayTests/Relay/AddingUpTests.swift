import Market
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// The accounts of clients of `/v1/stream`: the trades sent and the trades reported as missed are all trades of their
/// symbols.
@Suite("The accounts of clients add up")
struct AddingUpTests {
    /// More than may wait for a client for which the feed does not wait: 2 MB as single trades.
    private static let trades = 12_000

    /// The account of one client.
    private struct Sum {
        var singles = 0
        /// Reported by `skipped`, and in the reason of a close frame.
        var missed = 0
        /// Prices shown, and trades left out before a shown price.
        var shown = 0
        var ending = ""
        var newest = ""
        var hasSkipped = false

        init(_ texts: [String]) {
            self.ending = texts.last ?? ""
            self.missed = RunningProgram.number(in: self.ending, behind: "1013 too slow: ") ?? 0
            for text in texts.dropLast() {
                switch StreamMessage.parse(ByteBuffer(string: text)) {
                case .trade(let trade):
                    self.singles += 1
                    self.newest = "\(trade.price)"
                case .price(let update), .snapshot(let update, _):
                    self.shown += Int(update.skipped) + 1
                    self.newest = "\(update.summary.price)"
                default:
                    guard text.contains(#""type":"skipped""#) else { continue }
                    self.hasSkipped = true
                    self.missed += RunningProgram.number(in: text, behind: #""trades":"#) ?? 0
                }
            }
        }
    }

    private func bench(flow: FlowCalls? = nil) -> HubBench { HubBench(flow: flow) { $0.keepQuiet() } }

    /// Plays all trades in one turn, like those under way when a feed is paused; prices repeat.
    private func play(_ bench: HubBench, from first: Int = 1) {
        for start in stride(from: first, to: first + Self.trades, by: 100) {
            let elements = (start..<start + 100).map { Frames.element("A", "\($0 / 50 + 1)", time: $0) }
            bench.play(#"{"data":[\#(elements.joined(separator: ","))],"type":"trade"}"#)
        }
    }

    @Test(
        "a replay leaves out nothing for a client that it waits for, however much is under way",
        arguments: ["", "&overflow=close"]
    )
    func waitedFor(overflow: String) throws {
        let flow = FlowCalls()
        let bench = self.bench(flow: flow)
        let client = try bench.pipedStream("?symbols=*&delivery=all\(overflow)")
        _ = try client.takeTexts()
        client.stopReading(fillsChannel: true)
        self.play(bench)
        // There is buffer space for messages that must not be missed, too.
        bench.hub.take(.status(FeedStatus(source: .live, phase: .live, since: 2)))
        #expect(flow.calls.all == ["pause"])
        client.goOnReading()
        #expect(flow.calls.all == ["pause", "resume"])
        bench.hub.stop(reason: "the replay is over", within: .seconds(1))
        let sum = Sum(try client.takeTexts())
        #expect(sum.singles == Self.trades && !sum.hasSkipped && sum.ending == "1001 the replay is over", "\(sum)")
    }

    @Test("with little buffer space for a client, a replay leaves out as little", arguments: ["/v1/stream", "/"])
    func littleRoom(path: String) throws {
        let bench = HubBench(flow: FlowCalls()) {
            $0.keepQuiet()
            $0.maximumWaitingBytes = 64 << 10
        }
        let client = try path == "/" ? bench.pipedClient() : bench.pipedStream("?symbols=*&delivery=all")
        if path == "/" { try client.send(#"{"type":"subscribe","symbol":"A"}"#) }
        _ = try client.takeTexts()
        client.stopReading(fillsChannel: true)
        self.play(bench)
        client.goOnReading()
        let texts = try client.takeTexts()
        #expect(texts.reduce(0) { $0 + $1.split(separator: #""v":0.02"#).count - 1 } == (path == "/" ? Self.trades : 0))
        #expect(Sum(texts + [""]).singles == (path == "/" ? 0 : Self.trades), "\(texts.last ?? "")")
    }

    @Test("a client that is closed for being behind gets the whole count then, and no part of it before")
    func closed() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all")
        _ = try client.takeTexts()
        client.stopReading(fillsChannel: true)
        self.play(bench)
        bench.hub.take(.status(FeedStatus(source: .live, phase: .live, since: 2)))
        client.goOnReading()
        let sum = Sum(try client.takeTexts())
        #expect(sum.ending.hasPrefix("1013 too slow: ") && !sum.hasSkipped, "\(sum)")
        #expect(sum.singles > 500 && sum.singles + sum.missed == Self.trades, "\(sum)")
    }

    @Test("at the end of a replay, or of the relay, too", arguments: [true, false], [true, false])
    func ends(isReplay: Bool, isFull: Bool) throws {
        for query in [
            "delivery=all", "delivery=all&overflow=close", "delivery=all&overflow=latest", "delivery=latest",
            "delivery=latest&overflow=close", "every=250ms", "every=250ms&overflow=close",
        ] {
            let bench = self.bench(flow: isReplay ? FlowCalls() : nil)
            let client = try bench.pipedStream("?symbols=*&\(query)")
            _ = try client.takeTexts()
            if isFull { client.stopReading(fillsChannel: true) }
            self.play(bench)
            // The price does not change at the end.
            for _ in 1...3 { bench.play(Frames.trade("A", "99", time: 2 * Self.trades)) }
            bench.hub.stop(reason: "the end", within: .seconds(1))
            client.goOnReading()
            let sum = Sum(try client.takeTexts())
            let isAll = query.hasPrefix("delivery=all")
            #expect((isAll ? sum.singles : sum.shown) + sum.missed == Self.trades + 3, "\(query): \(sum)")
            // A client that has chosen to be closed instead of missing trades is closed if it misses any.
            let isClosed = sum.missed > 0 && (query.hasSuffix("close") || query == "delivery=all")
            #expect(sum.ending.hasPrefix(isClosed ? "1013 " : "1001 the end"), "\(query): \(sum)")
            if !isClosed { #expect(sum.newest == "99", "\(query): \(sum)") }
            if isReplay, isAll, !query.hasSuffix("latest") { #expect(sum.missed == 0, "\(query): \(sum)") }
        }
    }

    @Test("at the end a client with a full channel gets its bars as they are then, too")
    func bars() throws {
        let bench = self.bench()
        let client = try bench.pipedStream()
        bench.play(Frames.trade("A", "1"))
        try client.send(#"{"type":"subscribe","symbol":"A","bars":"1m"}"#)
        _ = try client.takeTexts()
        client.stopReading(fillsChannel: true)
        for price in ["2", "3"] { bench.play(Frames.trade("A", price)) }
        bench.hub.stop(reason: "the end", within: .seconds(1))
        client.goOnReading()
        let texts = try client.takeTexts()
        let bar = texts.last { $0.contains(#""type":"bar""#) } ?? ""
        #expect(bar.contains(#""close":"3""#) && bar.contains(#""trades":3,"closed":false"#), "\(texts)")
    }

    @Test("at the end of the relay a client of `/` that is behind gets its count", arguments: ["close", "latest"])
    func dropIn(overflow: String) throws {
        let bench = self.bench()
        let client = try bench.pipedClient("/?token=any&overflow=\(overflow)")
        try client.send(#"{"type":"subscribe","symbol":"A"}"#)
        client.stopReading(fillsChannel: true)
        for round in 0..<3 { self.play(bench, from: 1 + round * Self.trades) }
        bench.hub.stop(reason: "the end", within: .seconds(1))
        client.goOnReading()
        let texts = try client.takeTexts()
        let reported = texts.reduce(0) { $0 + $1.split(separator: #""v":0.02"#).count - 1 }
        let count = overflow == "close" ? texts.last : texts.dropLast().last
        let behind = overflow == "close" ? "1013 too slow: " : #"{"type":"skipped","trades":"#
        let missed = RunningProgram.number(in: count ?? "", behind: behind) ?? 0
        #expect(reported > 0 && missed > 0 && reported + missed == 3 * Self.trades, "\(texts.suffix(2))")
        if overflow == "latest" { #expect(texts.last == "1001 the end") }
    }

    @Test("trades that the relay itself had to leave out count with the next price")
    func lostOnTheWay() throws {
        for query in ["delivery=latest", "every=250ms"] {
            let bench = self.bench()
            let client = try bench.pipedStream("?symbols=*&\(query)")
            bench.play(Frames.trade("A", "1"))
            var feed = BatchSource()
            let lost = (1...40).map { Frames.trade("A", "\($0)") }
            bench.hub.take(.lost(RelayLoss(feed.batch(lost))))
            bench.play(Frames.trade("A", "2"))
            bench.hub.stop(reason: "the end", within: .seconds(1))
            let sum = Sum(try client.takeTexts())
            #expect(sum.shown == 42 && sum.newest == "2", "\(query): \(sum)")
        }
    }
}
