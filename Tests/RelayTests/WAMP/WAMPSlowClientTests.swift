import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("A slow client of WAMP")
struct WAMPSlowClientTests {
    private func open(_ bench: HubBench, _ requests: String...) throws -> PipedClient {
        let client = try bench.pipedWAMP()
        try client.send(#"[1,"tickertape",{"roles":{"caller":{}}}]"#)
        for request in requests { try client.send(request) }
        _ = try client.takeTexts()
        return client
    }

    @Test("it gets the newest price and the newest status once it reads again")
    func prices() throws {
        let bench = HubBench.wamp { $0.keepQuiet() }
        let client = try self.open(bench, #"[32,1,{},"tickertape.price.A"]"#, #"[32,2,{},"tickertape.status"]"#)
        bench.play(Frames.trade("A", "1"))
        #expect(try client.takeTexts().count == 1)
        client.stopReading(fillsChannel: true)
        for price in 2...9 { bench.play(Frames.trade("A", "\(price)", time: price)) }
        bench.hub.take(.status(FeedStatus(source: .live, phase: .late, since: 1)))
        bench.hub.take(.status(FeedStatus(source: .live, phase: .stale, since: 2)))
        client.goOnReading()
        let texts = try client.takeTexts()
        #expect(texts.count == 2 && texts[0].has(#""state":"stale""#))
        #expect(texts[1].has(#""type":"price""#, #""price":"9""#, #""skipped":7"#))
    }

    @Test("it is closed with the count of the trades that it missed")
    func trades() throws {
        let bench = HubBench.wamp {
            $0.keepQuiet()
            $0.maximumWaitingBytes = 4_096
        }
        let client = try self.open(bench, #"[32,1,{},"tickertape.trades.A"]"#)
        client.stopReading(fillsChannel: true)
        for number in 1...100 { bench.play(Frames.trade("A", "\(number)", time: number)) }
        client.goOnReading()
        bench.loop.advanceTime(by: .seconds(2))
        let texts = try client.takeTexts()
        let events = texts.filter { $0.hasPrefix("[36,") }.count
        #expect(events > 0 && texts.last == "1013 too slow: \(100 - events) trades missed")
    }

    @Test("other clients' events are left out for it, and a call to it fails at once")
    func others() throws {
        let bench = HubBench.wamp(broker: true) { $0.keepQuiet() }
        let client = try self.open(bench, #"[32,1,{},"com.t"]"#, #"[64,2,{},"com.p"]"#)
        let other = try bench.wampSession()
        client.stopReading(fillsChannel: true)
        for number in 1...50 { try other.send(#"[16,\#(number),{},"com.t",[\#(number)]]"#) }
        #expect(try other.ask(#"[48,60,{},"com.p"]"#)[0].has("[8,48,60,{},", "tickertape.error.busy"))
        client.goOnReading()
        try other.send(#"[16,61,{},"com.t",["now"]]"#)
        #expect(try client.takeTexts().map { $0.has(#"["now"]"#) } == [true])
    }

    @Test("a caller that does not read its results is closed before they fill the memory")
    func results() throws {
        let bench = HubBench.wamp(broker: true) {
            $0.keepQuiet()
            $0.maximumWaitingBytes = 16_384
        }
        let callee = try bench.wampSession()
        _ = try callee.ask(#"[64,1,{},"com.p"]"#)
        let caller = try self.open(bench)
        for number in 1...20 { try caller.send(#"[48,\#(number),{},"com.p"]"#) }
        caller.stopReading(fillsChannel: true)
        let text = String(repeating: "x", count: 4_096)
        for number in 1...20 { try callee.send(#"[70,\#(number),{},["\#(text)"]]"#) }
        caller.goOnReading()
        let texts = try caller.takeTexts()
        #expect(texts.last?.has("1013 too slow") == true && texts.count < 12)
    }

    @Test("one publication writes no more than may wait, however many subscriptions of a session match it")
    func manyMatches() throws {
        let bench = HubBench.wamp(broker: true) { $0.maximumWaitingBytes = 4_096 }
        let (publisher, subscriber) = (try bench.wampSession(), try bench.wampSession())
        for length in 1...16 {
            let text = String(repeating: "c", count: length)
            _ = try subscriber.ask(#"[32,1,{"match":"prefix"},"\#(text)"]"#)
        }
        let topic = String(repeating: "c", count: 20)
        let text = String(repeating: "x", count: 1_000)
        for _ in 0..<2 {
            try publisher.send(#"[16,1,{},"\#(topic)",["\#(text)"]]"#)
            #expect(try subscriber.take().count == 3)
        }
        let large = String(repeating: "x", count: 10_000)
        try publisher.send(#"[16,1,{},"\#(topic)",["\#(large)"]]"#)
        #expect(try subscriber.take().count == 1, "a large event alone is no reason to leave it out")
    }

    @Test("a result above the limit reaches a caller for which nothing waits")
    func largeResult() throws {
        let bench = HubBench.wamp(broker: true) { $0.maximumWaitingBytes = 4_096 }
        let (caller, callee) = (try bench.wampSession(), try bench.wampSession())
        _ = try callee.ask(#"[64,1,{},"com.p"]"#)
        _ = try caller.ask(#"[48,1,{},"com.p"]"#)
        let text = String(repeating: "x", count: 10_000)
        try callee.send(#"[70,1,{},["\#(text)"]]"#)
        #expect(try caller.take() == [#"[50,1,{},["\#(text)"]]"#])
    }
}
