import WebSocket
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// Resuming clients that stop reading during the catch-up; the test controls time and turns.
@Suite("Catching up, and concurrent events")
struct CatchingUpTests {
    private static let trades = 1_000

    /// A bench whose ring holds 1,000 trades and is full.
    private func bench(flow: (any FlowControl)? = nil) -> HubBench {
        let bench = HubBench(flow: flow) { $0.keepQuiet() }
        bench.hub.ring = TradeRing(capacity: Self.trades, epoch: 7)
        for number in 1...Self.trades { bench.play(Frames.trade("A", "\(number)")) }
        return bench
    }

    /// Returns the numbers of the single trades among the messages.
    private func singles(_ texts: [String]) -> [Int] {
        texts.compactMap { text in
            guard case .trade(let trade) = StreamMessage.parse(ByteBuffer(string: text)) else { return nil }
            return Int(trade.sequence)
        }
    }

    @Test("trades evicted before they were sent are reported in their place, and the rest comes")
    func eviction() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all&overflow=latest&since=7:0")
        client.stopReading(fillsChannel: true)
        let before = self.singles(try client.takeTexts())
        let last = before.last ?? 0
        #expect(before == Array(1...last) && last < Self.trades / 2, "\(last) went in the first step")
        for number in 1...600 { bench.play(Frames.trade("A", "\(Self.trades + number)")) }
        client.goOnReading()
        bench.loop.run()
        let texts = try client.takeTexts()
        let skipped = #""trades":\#(600 - last),"from":\#(last + 1),"to":600}"#
        #expect(texts.first?.hasPrefix(#"{"type":"skipped","#) == true && texts[0].hasSuffix(skipped), "\(texts[0])")
        #expect(self.singles(texts) == Array(601...1_600))
        #expect(texts.last?.hasSuffix(#""to":1600,"trades":\#(1_600 - 600 + last),"complete":false}"#) == true)
        bench.play(Frames.trade("A", "9"))
        #expect(self.singles(try client.takeTexts()) == [1_601])
        bench.stop()
    }

    @Test("deferred requests of a resuming client are limited to the bytes of one message")
    func boundsDeferred() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all&overflow=latest&since=7:0")
        client.stopReading(fillsChannel: true)
        try client.send(#"{"type":"subscribe","symbol":"B","delivery":"latest"}"#)
        let names = (1_000..<1_800).map { "\"\(String(repeating: "x", count: 40))\($0)\"" }.joined(separator: ",")
        for _ in 1...3 { try client.send(#"{"type":"unsubscribe","symbols":[\#(names)]}"#) }
        client.goOnReading()
        bench.loop.run()
        let texts = try client.takeTexts()
        #expect(texts.count { $0.contains(#""code":"busy""#) } == 2, "one of 36 KB fits")
        #expect(texts.count { $0.contains(#""symbols":["B"],"delivery":"latest""#) } == 1)
        bench.stop()
    }

    @Test("a client that has read nothing of its catch-up is heard: it unsubscribes, and its pings are answered")
    func hearsRequests() throws {
        let bench = self.bench()
        let client = try bench.pipedStream()
        client.stopReading()
        try client.send(#"{"type":"subscribe","symbols":["A","B"],"delivery":"all","since":"7:0"}"#)
        let session = try #require(bench.hub.resuming.values.first as? StreamClient)
        #expect(session.waitingBytes > 16 << 10, "the first step waits")
        try client.send(#"{"type":"unsubscribe","symbol":"A"}"#)
        try client.send(#"{"type":"ping","id":1}"#)
        #expect(bench.hub.index.symbols(of: session) == ["B"])
        client.goOnReading()
        bench.loop.run()
        let texts = try client.takeTexts()
        let singles = self.singles(texts)
        #expect(singles == Array(1...singles.count) && singles.count < Self.trades / 2, "\(singles.count)")
        #expect(texts.count { $0.hasPrefix(#"{"type":"pong""#) } == 1)
        #expect(texts.contains { $0.contains(#""to":1000,"trades":\#(singles.count),"complete":true}"#) }, "\(texts)")
        bench.stop()
    }

    @Test("few answers wait for the end of a catch-up; the other requests wait, and all are answered in order")
    func boundsAnswers() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all&overflow=latest&since=7:0")
        client.stopReading(fillsChannel: true)
        _ = try client.takeTexts()
        for number in 1...3_000 { try client.send(#"{"type":"ping","id":\#(number)}"#) }
        let session = try #require(bench.hub.resuming.values.first as? StreamClient)
        #expect((1...8 << 10).contains(session.heldAnswerBytes))
        client.goOnReading()
        bench.loop.run()
        let texts = try client.takeTexts()
        #expect(!texts.contains { $0.contains("too slow") }, "\(texts.last ?? "")")
        let pongs = texts.filter { $0.hasPrefix(#"{"type":"pong""#) }
        #expect(pongs.count == 3_000)
        for (number, pong) in zip(1..., pongs) { #expect(pong.contains(#""id":\#(number),"#), "\(pong)") }
        #expect(self.singles(texts).last == Self.trades)
        bench.stop()
    }

    @Test("a followed symbol resumes from a position, too: its trades come, each once, and then live ones")
    func followedAlready() throws {
        let bench = HubBench { $0.webSocket.pingInterval = .hours(1) }
        let client = try bench.pipedStream()
        try client.send(#"{"type":"subscribe"}"#)
        for number in 1...20 { bench.play(Frames.trade(number % 2 == 0 ? "A" : "B", "\(number)")) }
        _ = try client.takeTexts()
        try client.send(#"{"type":"subscribe","symbol":"A","delivery":"all","since":"7:10"}"#)
        bench.loop.run()
        bench.play(Frames.trade("A", "21"))
        var texts = try client.takeTexts()
        #expect(self.singles(texts) == [12, 14, 16, 18, 20, 21])
        #expect(texts.contains { $0.contains(#""from":10,"to":20,"trades":5,"complete":true}"#) }, "\(texts)")
        // Subscribed again, each with its own delivery: one by single trades, the other by its newest price.
        try client.send(#"{"type":"subscribe","symbols":["A","B"],"since":"7:17"}"#)
        bench.loop.run()
        texts = try client.takeTexts()
        #expect(self.singles(texts) == [18, 20, 21])
        let snapshot = texts.first { $0.hasPrefix(#"{"type":"snapshot","#) }
        #expect(snapshot?.contains(#""symbol":"B","price":"19","#) == true, "\(texts)")
        #expect(snapshot?.contains(#""seq":19,"skipped":1,"#) == true, "\(texts)")
        #expect(texts.last?.contains(#""from":17,"to":21,"trades":4,"complete":true}"#) == true, "\(texts)")
        bench.stop()
    }

    @Test("postponed prices are not sent where a symbol resumes by single trades: its trades come once, in order")
    func unreportedPrices() throws {
        let bench = HubBench {
            $0.keepQuiet()
            $0.pipeline = PricePipeline.Settings(quiet: 3_600_000_000_000, atMost: nil)
        }
        let client = try bench.pipedStream()
        bench.play(Frames.trade("A", "1"))
        try client.send(#"{"type":"subscribe","symbol":"A"}"#)
        bench.play(Frames.trade("A", "2"))
        bench.play(Frames.trade("A", "3"))
        _ = try client.takeTexts()
        try client.send(#"{"type":"subscribe","symbol":"A","delivery":"all","since":"7:1"}"#)
        bench.loop.run()
        var texts = try client.takeTexts()
        #expect(texts.count == 4 && self.singles(texts) == [2, 3], "\(texts)")
        #expect(texts.last?.contains(#""trades":2,"complete":true}"#) == true, "\(texts)")
        // Without a position they are sent, since no resumption reports them.
        try client.send(#"{"type":"subscribe","symbol":"A","delivery":"latest"}"#)
        bench.play(Frames.trade("A", "4"))
        _ = try client.takeTexts()
        try client.send(#"{"type":"subscribe","symbol":"A","delivery":"all"}"#)
        texts = try client.takeTexts()
        #expect(texts.contains { $0.hasPrefix(#"{"type":"price","#) && $0.contains(#""seq":4,"#) }, "\(texts)")
        bench.stop()
    }

    @Test("a client that wants every trade or none is closed with the count of the evicted ones")
    func evictionCloses() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all&since=7:0")
        client.stopReading(fillsChannel: true)
        let last = self.singles(try client.takeTexts()).last ?? 0
        for number in 1...600 { bench.play(Frames.trade("A", "\(Self.trades + number)")) }
        client.goOnReading()
        let texts = try client.takeTexts()
        let closure = try #require(texts.last)
        #expect(closure.hasPrefix("1013 too slow: ") && closure.hasSuffix(" trades missed"), "\(closure)")
        // The first evicted trade closes it: all trades in the ring are missed then, and the one that has just come.
        #expect(last < Self.trades && closure == "1013 too slow: \(Self.trades + 1) trades missed", "\(closure)")
        bench.stop()
    }

    @Test("a client that stops long enough to be behind continues where it was, and misses nothing")
    func stalls() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all&overflow=latest&since=7:0")
        var numbers = self.singles(try client.takeTexts())
        client.stopReading(fillsChannel: true)
        // Only its pong waits for it.
        try client.channel.writeInbound(RawClient.masked(opcode: 9, "still here"))
        bench.loop.advanceTime(by: .seconds(30))
        #expect(try client.takeTexts().isEmpty)
        client.goOnReading()
        bench.loop.run()
        let texts = try client.takeTexts()
        numbers += self.singles(texts)
        #expect(numbers == Array(1...Self.trades))
        #expect(texts.last?.hasSuffix(#""trades":1000,"complete":true}"#) == true)
        bench.stop()
    }

    @Test("the trades under way when a replay was paused cost a resuming client no trade")
    func underWay() throws {
        let flow = FlowCalls()
        let bench = self.bench(flow: flow)
        let client = try bench.pipedStream("?symbols=*&delivery=all&since=7:0")
        client.stopReading(fillsChannel: true)
        for number in 1...600 { bench.play(Frames.trade("A", "\(Self.trades + number)")) }
        // More status messages than may wait for a client for which the feed does not wait.
        for number in 2...1_101 {
            bench.hub.take(.status(FeedStatus(source: .live, phase: .live, since: Int64(number))))
        }
        #expect(flow.calls.all == ["pause"])
        client.goOnReading()
        bench.loop.run()
        let texts = try client.takeTexts()
        #expect(self.singles(texts) == Array(1...1_600), "\(texts.last ?? "")")
        #expect(texts.last?.hasSuffix(#""to":1600,"trades":1600,"complete":true}"#) == true, "\(texts.last ?? "")")
        #expect(flow.calls.all == ["pause", "resume"])
        bench.stop()
    }

    @Test("the end of the relay leaves out the remaining trades, reports it in their place, and shows the newest")
    func endsOnTheWay() throws {
        for overflow in ["latest", "close"] {
            let bench = self.bench()
            let client = try bench.pipedStream("?symbols=A&delivery=all&overflow=\(overflow)&since=7:0")
            client.stopReading(fillsChannel: true)
            let last = self.singles(try client.takeTexts()).last ?? 0
            bench.hub.take(.status(FeedStatus(source: .live, phase: .live, since: 2)))
            bench.play(Frames.trade("A", "7"))
            bench.hub.stop(reason: "the end", within: .seconds(1))
            client.goOnReading()
            let texts = try client.takeTexts()
            if overflow == "close" {
                #expect(texts.last?.hasPrefix("1013 too slow: ") == true, "\(texts)")
                continue
            }
            #expect(texts.last == "1001 the end", "\(texts)")
            let skipped = texts.filter { $0.contains(#""type":"skipped""#) }
            let missed = skipped.compactMap { RunningProgram.number(in: $0, behind: #""trades":"#) }.reduce(0, +)
            #expect(self.singles(texts).isEmpty && missed + last == Self.trades + 1, "\(last) \(texts)")
            #expect(texts.contains { $0.contains(#""type":"status""#) })
            #expect(texts.contains { $0.contains(#""to":1001,"trades":\#(last),"complete":false}"#) }, "\(texts)")
        }
    }

    @Test("a replay waits for a resuming client, until it has caught up or left")
    func replay() throws {
        for leaves in [false, true] {
            let flow = FlowCalls()
            let bench = self.bench(flow: flow)
            let client = try bench.pipedStream("?symbols=*&delivery=all&since=7:0")
            #expect(flow.calls.all == ["pause"])
            client.stopReading(fillsChannel: true)
            bench.loop.run()
            var numbers = self.singles(try client.takeTexts())
            #expect(flow.calls.all == ["pause"] && numbers.count < Self.trades)
            if leaves {
                client.channel.close(promise: nil)
            } else {
                client.goOnReading()
            }
            bench.loop.run()
            #expect(flow.calls.all == ["pause", "resume"])
            if !leaves {
                numbers += self.singles(try client.takeTexts())
                #expect(numbers == Array(1...Self.trades))
            }
            bench.stop()
        }
    }
}
