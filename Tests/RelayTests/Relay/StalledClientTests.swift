import WebSocket
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

/// Clients with a small queue, which is allowed, that read none of it; the test controls time.
@Suite("Clients that read nothing")
struct StalledClientTests {
    private func bench(_ change: (inout RelaySettings) -> Void = { _ in }) -> HubBench {
        HubBench {
            $0.stallTimeout = .seconds(10)
            $0.webSocket.pingInterval = .hours(1)
            $0.activityInterval = .hours(1)
            change(&$0)
        }
    }

    @Test("after ten seconds without progress a client of Finnhub's protocol is closed, and not one that takes some")
    func closes() throws {
        let bench = self.bench()
        let stuck = try bench.pipedClient()
        let slow = try bench.pipedClient()
        for client in [stuck, slow] {
            try client.send(#"{"type":"subscribe","symbol":"A"}"#)
            client.stopReading()
        }
        var sent: [String] = []
        for second in 1...4 {
            let trade = Frames.trade("A", "\(second)")
            sent.append(trade)
            bench.play(trade)
            bench.loop.advanceTime(by: .seconds(4))
            slow.goOnReading()
            slow.stopReading()
            // Its close frame comes after the queue and waits as long as the closing handshake may take.
            if second == 3 { stuck.goOnReading() }
        }
        slow.goOnReading()
        // It was closed after the third trade; the fourth does not count as missed.
        #expect(try stuck.takeTexts() == Array(sent.prefix(3)) + ["1013 too slow: 0 trades missed"])
        #expect(try slow.takeTexts() == sent)
        bench.stop()
    }

    @Test("a client that has chosen to go on does when it reads again, and gets the count of what it missed")
    func goesOn() throws {
        let bench = self.bench()
        let client = try bench.pipedClient("/?overflow=latest")
        try client.send(#"{"type":"subscribe","symbol":"A"}"#)
        for round in 0..<3 {
            client.stopReading()
            let first = Frames.trade("A", "1\(round)")
            bench.play(first)
            bench.loop.advanceTime(by: .seconds(12))
            for number in 2...6 { bench.play(Frames.trade("A", "\(number)\(round)")) }
            client.goOnReading()
            #expect(try client.takeTexts() == [first])
            // At once, and not at the next check of slow clients: its queue is empty.
            bench.loop.run()
            let next = Frames.trade("A", "7\(round)")
            bench.play(next)
            #expect(try client.takeTexts() == [#"{"type":"skipped","trades":5}"#, next])
        }
        bench.stop()
    }

    @Test("postponed prices come when the client reads again, though its channel never was full")
    func postponed() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*")
        client.stopReading()
        bench.play(Frames.trade("A", "1"))
        bench.loop.advanceTime(by: .seconds(12))
        for price in ["2", "3", "4"] { bench.play(Frames.trade("A", price)) }
        client.goOnReading()
        #expect(try client.takeTexts().compactMap(Self.price) == ["1"])
        bench.loop.advanceTime(by: .seconds(1))
        let late = try client.takeTexts()
        #expect(late.compactMap(Self.price) == ["4"] && late.first?.contains(#""skipped":2"#) == true, "\(late)")
        bench.stop()
    }

    @Test(
        "every trade that a client of the stream missed is reported when it reads again, without another trade"
    )
    func skipped() throws {
        let bench = self.bench()
        let client = try bench.pipedStream("?symbols=*&delivery=all&overflow=latest")
        client.stopReading()
        bench.play(Frames.trade("A", "1"))
        bench.loop.advanceTime(by: .seconds(12))
        for price in ["2", "3"] { bench.play(Frames.trade("A", price), Frames.trade("B", price)) }
        client.goOnReading()
        _ = try client.takeTexts()
        bench.loop.advanceTime(by: .seconds(1))
        let late = try client.takeTexts()
        #expect(late.first?.contains(#""trades":4,"from":2,"to":5"#) == true, "\(late)")
        #expect(late.dropFirst().allSatisfy { $0.hasPrefix(#"{"type":"snapshot","#) } && late.count == 3, "\(late)")
        bench.stop()
    }

    @Test("few bytes can be too many messages, below the channel's high mark as well")
    func messages() throws {
        let bench = self.bench { $0.maximumWaitingMessages = 100 }
        let client = try bench.pipedClient()
        try client.send(#"{"type":"subscribe","symbol":"A"}"#)
        client.stopReading()
        for number in 1...150 { bench.play(Frames.trade("A", "\(number)")) }
        client.goOnReading()
        bench.loop.advanceTime(by: .seconds(1))
        let texts = try client.takeTexts()
        // The count may be too high by the messages of a few KiB, but never too low.
        #expect(texts.count > 50 && texts.count <= 101, "\(texts.count)")
        #expect(texts.last == "1013 too slow: \(150 - (texts.count - 1)) trades missed")
        bench.stop()
    }

    @Test(
        "status messages wait in order up to the limits; beyond these the client is closed, and no other",
        arguments: [(bytes: 1 << 20, messages: 40), (bytes: 4 << 10, messages: 1_024)]
    )
    func control(bytes: Int, messages: Int) throws {
        let bench = self.bench {
            $0.maximumWaitingBytes = bytes
            $0.maximumWaitingMessages = messages
        }
        let client = try bench.pipedStream()
        let other = try bench.pipedStream()
        _ = try client.takeTexts()
        _ = try other.takeTexts()
        client.stopReading(fillsChannel: true)
        for since in 2...200 {
            bench.hub.take(.status(FeedStatus(source: .live, phase: .stale, since: Int64(since) * 1_000_000)))
        }
        let all = try other.takeTexts()
        #expect(all.count == 199)
        client.goOnReading()
        var texts = try client.takeTexts()
        #expect(texts.popLast() == "1013 too slow: messages of the feed's state wait")
        #expect(texts == Array(all.prefix(texts.count)))
        #expect(texts.count > 5 && texts.count <= messages && texts.reduce(0) { $0 + $1.utf8.count } <= bytes)
        bench.stop()
    }

    @Test("a flood of subscribes reaches the upstream up to the limit, is answered, and then ended")
    func subscribeFlood() throws {
        for isStream in [false, true] {
            let bench = self.bench {
                $0.requestBurst = 5
                $0.requestsPerSecond = 1
            }
            let client = try isStream ? bench.pipedStream() : bench.pipedClient()
            let other = try isStream ? bench.pipedStream() : bench.pipedClient()
            _ = try client.takeTexts()
            for number in 1...30 {
                // The later requests come after its close and have no effect.
                try client.send(#"{"type":"subscribe","symbol":"S\#(number)"}"#)
            }
            #expect(bench.calls.all == (1...5).map { "S\($0)" })
            let texts = try client.takeTexts()
            #expect(texts.last == "1008 too many requests", "\(texts)")
            #expect(texts.count { $0.contains("Too many requests; slow down") } == 5, "\(texts)")
            try other.send(#"{"type":"subscribe","symbol":"T"}"#)
            #expect(bench.calls.all.last == "T")
            bench.stop()
        }
    }

    @Test("many symbols in one request cost as much as many requests")
    func manyAtOnce() throws {
        let bench = self.bench {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        }
        let client = try bench.pipedStream()
        _ = try client.takeTexts()
        let symbols = (1...640).map { #""S\#($0)""# }.joined(separator: ",")
        try client.send(#"{"type":"unsubscribe","symbols":[\#(symbols)]}"#)
        try client.send(#"{"type":"ping"}"#)
        #expect(try client.takeTexts().map { $0.contains(#""code":"rate-limited""#) } == [true])
        bench.loop.advanceTime(by: .seconds(6))
        try client.send(#"{"type":"ping"}"#)
        #expect(try client.takeTexts().map { $0.hasPrefix(#"{"type":"pong","#) } == [true])
        bench.stop()
    }

    private static func price(_ text: String) -> String? {
        switch StreamMessage.parse(ByteBuffer(string: text)) {
        case .snapshot(let update, _), .price(let update): "\(update.summary.price)"
        default: nil
        }
    }
}
