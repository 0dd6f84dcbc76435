import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("The feed over WAMP")
struct WAMPFeedTests {
    @Test(
        "a price subscription begins with the snapshot and goes on with the prices",
        arguments: WAMPSerialisation.allCases
    )
    func prices(serialisation: WAMPSerialisation) throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession(serialisation)
        #expect(try client.ask(#"[32,1,{},"tickertape.price.A"]"#) == ["[33,1,1]"])
        bench.play(Frames.trade("A", "1.50", time: 1))
        let first = try client.take()
        #expect(
            first.count == 1 && first[0].has("[36,1,", #",{},[{"type":"snapshot","n":"#, #""symbol":"A","price":"1.5""#)
        )
        bench.play(Frames.trade("A", "2", time: 2), Frames.trade("B", "3", time: 2))
        let next = try client.take()
        #expect(next.count == 1 && next[0].has(#"{"type":"price","n":"#, #""price":"2""#, #""skipped":0"#))
        let late = try bench.wampSession(serialisation)
        let begin = try late.ask(#"[32,7,{},"tickertape.price.A"]"#)
        #expect(
            begin.count == 2 && begin[0] == "[33,7,1]"
                && begin[1].has("[36,1,", #""type":"snapshot""#, #""price":"2""#, #""age":"#)
        )
        #expect(bench.calls.all == ["A"])
        #expect(try client.ask("[34,2,1]") == ["[35,2]"])
        bench.play(Frames.trade("A", "3", time: 3))
        #expect(try client.take() == [] && late.take().count == 1)
        bench.loop.advanceTime(by: .seconds(11))
        #expect(bench.calls.all == ["A"], "another client still has it")
        #expect(try late.ask("[34,8,1]") == ["[35,8]"])
        bench.loop.advanceTime(by: .seconds(11))
        #expect(bench.calls.all == ["A", "-A"])
    }

    @Test("every trade comes, and a symbol is released with the last of its two topics")
    func trades() throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession()
        _ = try client.ask(#"[32,1,{},"tickertape.trades.A"]"#)
        _ = try client.ask(#"[32,2,{},"tickertape.price.A"]"#)
        _ = try client.ask("[34,3,2]")
        bench.play(Frames.trades(Frames.element("A", "1"), Frames.element("B", "5"), Frames.element("A", "1")))
        let events = try client.take()
        #expect(
            events.count == 2 && events.allSatisfy { $0.has("[36,1,", #"{},[{"type":"trade","n":"#, #""symbol":"A""#) }
        )
        #expect(events[0].has(#""seq":1"#) && events[1].has(#""seq":3"#))
        bench.loop.advanceTime(by: .seconds(11))
        #expect(bench.calls.all == ["A"])
        _ = try client.ask("[34,4,1]")
        bench.loop.advanceTime(by: .seconds(11))
        #expect(bench.calls.all == ["A", "-A"])
        #expect(bench.hub.context.index.fanout(of: WAMPClient.self).isEmpty)
    }

    @Test("a pattern gets the topics of all symbols of the feed with their names, and subscribes to none upstream")
    func patterns() throws {
        let bench = HubBench.wamp()
        bench.play(Frames.trade("A.B", "1"))
        let client = try bench.wampSession()
        let begin = try client.ask(#"[32,1,{"match":"prefix"},"tickertape.price."]"#)
        #expect(begin.count == 2 && begin[1].has("[36,1,", #"{"topic":"tickertape.price.A%2EB"},[{"type":"snapshot""#))
        #expect(try client.ask(#"[32,2,{"match":"wildcard"},"tickertape.trades."]"#) == ["[33,2,2]"])
        bench.play(Frames.trade("C", "2", time: 1))
        let events = try client.take()
        #expect(events.count == 2)
        #expect(events[0].has("[36,2,", #"{"topic":"tickertape.trades.C"},[{"type":"trade""#))
        #expect(events[1].has("[36,1,", #"{"topic":"tickertape.price.C"},[{"type":"snapshot""#))
        #expect(bench.calls.all == [])
        _ = try client.ask("[34,3,1]")
        _ = try client.ask("[34,4,2]")
        bench.play(Frames.trade("C", "3", time: 2))
        #expect(try client.take() == [])
    }

    @Test("an exact subscription beside a pattern gets the same publication")
    func twice() throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession()
        _ = try client.ask(#"[32,1,{},"tickertape.price.A"]"#)
        _ = try client.ask(#"[32,2,{"match":"prefix"},"tickertape.price."]"#)
        bench.play(Frames.trade("A", "1"))
        let values = try client.takeFrames().map { try WAMPJSONDecoder.decode($0.payload).list ?? [] }
        #expect(values.map { $0[1] } == [.integer(1), .integer(2)] && values[0][2] == values[1][2])
    }

    @Test("the status comes at once and when it changes, gaps when they are found")
    func reports() throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession()
        let status = try client.ask(#"[32,1,{},"tickertape.status"]"#)
        #expect(status.count == 2 && status[1].has("[36,1,", #"{},[{"type":"status""#, #""state":"live""#))
        #expect(try client.ask(#"[32,2,{},"tickertape.gap"]"#) == ["[33,2,2]"])
        bench.hub.take(.status(FeedStatus(source: .live, phase: .late, since: 1)))
        bench.hub.take(.gap(Gap(from: 1, to: 2, reason: "r", nextSequence: 1, symbol: "Z")))
        let events = try client.take()
        #expect(
            events.count == 2 && events[0].has("[36,1,", #""state":"late""#)
                && events[1].has("[36,2,", #""type":"gap""#, #""symbol":"Z""#)
        )
    }

    @Test("a topic that does not exist, a symbol that is none and one too many are refused")
    func refusals() throws {
        let bench = HubBench.wamp(symbolLimit: 2)
        let client = try bench.wampSession()
        let cases = [
            (#"{},"tickertape.price""#, "tickertape.error.no_such_topic"),
            (#"{},"tickertape.x.A""#, "tickertape.error.no_such_topic"),
            (#"{},"tickertape.price.A.B""#, "wamp.error.invalid_uri"),
            (#"{},"tickertape.price.%""#, "wamp.error.invalid_uri"),
            (#"{},"tickertape.price.%20""#, "wamp.error.invalid_uri"),
            (#"{},"tickertape..A""#, "wamp.error.invalid_uri"),
            (#"{},"com.other""#, "wamp.error.not_authorized"),
            (#"{"match":"prefix"},"com.""#, "wamp.error.not_authorized"),
            (#"{"match":"prefix"},"tickertape.x""#, "tickertape.error.no_such_topic"),
            (#"{"match":"odd"},"tickertape.status""#, "wamp.error.option_not_allowed"),
            (#"{},"wamp.session.on_join""#, "wamp.error.not_authorized"),
        ]
        for (request, uri) in cases {
            let answers = try client.ask("[32,9,\(request)]")
            #expect(answers.count == 1 && answers[0].has("[8,32,9,{},", uri), "\(request): \(answers)")
        }
        for symbol in ["A", "B"] { #expect(try client.ask(#"[32,1,{},"tickertape.price.\#(symbol)"]"#).count == 1) }
        #expect(try client.ask(#"[32,1,{},"tickertape.trades.B"]"#).count == 1, "a known symbol takes no further place")
        #expect(try client.ask(#"[32,1,{},"tickertape.price.C"]"#)[0].has("tickertape.error.too_many_symbols"))
    }

    @Test("a symbol that the upstream refuses is reported on its topics")
    func refusedSymbol() throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession()
        _ = try client.ask(#"[32,1,{},"tickertape.price.A"]"#)
        let refused = SymbolStatus(
            symbol: "A",
            state: .refused(.noSuchSymbol, retryAt: 5),
            since: 1,
            reason: "Invalid symbol A"
        )
        bench.hub.take(.symbol(refused))
        let events = try client.take()
        #expect(events.count == 1 && events[0].has("[36,1,", #"{},[{"type":"error","#, "Invalid symbol A"))
        let second = try client.ask(#"[32,2,{},"tickertape.trades.A"]"#)
        #expect(second.count == 2 && second[0] == "[33,2,2]" && second[1].has("[36,2,", #""type":"error""#))
        let other = try bench.wampSession()
        #expect(try other.ask(#"[32,1,{},"tickertape.price.A"]"#).count == 2)
    }

    @Test("the subscriptions of a session are limited, besides those to symbols")
    func limit() throws {
        let bench = HubBench.wamp(broker: true)
        let client = try bench.wampSession()
        for number in 0..<WAMPLimits.subscriptions { #expect(try client.ask(#"[32,1,{},"a.t\#(number)"]"#).count == 1) }
        #expect(try client.ask(#"[32,1,{},"a.more"]"#)[0].has("tickertape.error.too_many_subscriptions"))
        #expect(try client.ask(#"[32,1,{},"a.t1"]"#)[0].has("[33,1,"), "a repeated one is answered")
        #expect(try client.ask(#"[32,1,{},"tickertape.price.A"]"#)[0].has("[33,1,"))
    }

    @Test("clients with one serialisation share the bytes of an event")
    func encodedOnce() throws {
        let bench = HubBench.wamp()
        let clients = try (0..<3).map { _ in try bench.wampSession() }
        for client in clients {
            _ = try client.ask(#"[32,1,{},"tickertape.price.A"]"#)
            _ = try client.ask(#"[32,2,{},"tickertape.trades.A"]"#)
            _ = try client.ask(#"[32,3,{},"tickertape.status"]"#)
        }
        bench.play(Frames.trade("A", "1"))
        bench.hub.take(.status(FeedStatus(source: .live, phase: .late, since: 1)))
        // The same message number and publication in all of them: each was encoded once.
        let frames = try clients.map { try $0.take() }
        #expect(frames[0].count == 3 && frames[1] == frames[0] && frames[2] == frames[0])
    }

    @Test("the procedures answer with the objects of the HTTP API")
    func procedures() throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession()
        _ = try client.ask(#"[32,1,{},"tickertape.price.A"]"#)
        bench.play(Frames.trades(Frames.element("A", "1"), Frames.element("A", "2", time: 1)))
        _ = try client.take()
        #expect(
            try client.ask(#"[48,1,{},"tickertape.snapshot",["A"]]"#)[0].has(
                "[50,1,{},[{",
                #""type":"snapshot""#,
                #""price":"2""#
            )
        )
        #expect(try client.ask(#"[48,2,{},"tickertape.snapshot"]"#)[0].has("[50,2,{},[[{", #""symbol":"A""#))
        #expect(
            try client.ask(#"[48,3,{},"tickertape.symbols"]"#)[0].has(
                #"[[{"symbol":"A","state":"live","reason":null,"trades":2}]]"#
            )
        )
        #expect(
            try client.ask(#"[48,4,{},"tickertape.trades",["A",1]]"#)[0].has(
                #"[{"symbol":"A""#,
                #""trades":[{"seq":2,"price":"2""#
            )
        )
        #expect(
            try client.ask(#"[48,5,{},"tickertape.bars",[],{"symbol":"A","width":"1s","limit":5}]"#)[0].has(
                #"[{"symbol":"A","width":"1s","bars":[{"#
            )
        )
        for (call, uri) in [
            (#""tickertape.snapshot",["Z"]"#, "no_such_symbol"), (#""tickertape.trades""#, "invalid_argument"),
            (#""tickertape.trades",["A",100000]"#, "invalid_argument"),
            (#""tickertape.bars",["A","1y"]"#, "invalid_argument"),
            (#""tickertape.snapshot",[7]"#, "invalid_argument"), (#""tickertape.other""#, "no_such_procedure"),
            (#""com.other""#, "no_such_procedure"), (#""not a uri""#, "invalid_uri"),
            (#""wamp.other""#, "no_such_procedure"),
        ] {
            let answers = try client.ask("[48,9,{},\(call)]")
            #expect(answers.count == 1 && answers[0].has("[8,48,9,{},", uri), "\(call): \(answers)")
        }
    }

    @Test("a snapshot that is ahead of the debounce reaches all subscriptions of the session, and no price follows it")
    func snapshotAhead() throws {
        let bench = HubBench.wamp { $0.pipeline = PricePipeline.Settings(quiet: 200_000_000, atMost: nil) }
        let client = try bench.wampSession()
        _ = try client.ask(#"[32,1,{},"tickertape.price.A"]"#)
        bench.play(Frames.trade("A", "1"))
        #expect(try client.take().count == 1)
        bench.play(Frames.trade("A", "2", time: 1))
        #expect(try client.take() == [])
        let answers = try client.ask(#"[32,2,{"match":"prefix"},"tickertape.price."]"#)
        #expect(answers.count == 3 && answers[0] == "[33,2,2]")
        #expect(answers.dropFirst().allSatisfy { $0.has(#""type":"snapshot""#, #""price":"2""#) })
        bench.loop.advanceTime(by: .seconds(1))
        #expect(try client.take() == [])
        let again = try client.ask(#"[32,3,{"match":"prefix"},"tickertape."]"#)
        #expect(again.filter { $0.has(#""type":"snapshot""#) }.count == 1, "nothing new: only the new one gets it")
    }

    @Test("a symbol has one topic, however its characters are composed, as it has elsewhere in the relay")
    func composedSymbol() throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession()
        bench.play(Frames.trade("\u{E9}", "1"))
        #expect(try client.ask(#"[32,1,{},"tickertape.price.e\u0301"]"#).count == 2)
        #expect(try client.ask(#"[32,2,{},"tickertape.trades.e\u0301"]"#).count == 1)
        bench.play(Frames.trade("\u{E9}", "2", time: 1))
        #expect(try client.take().count == 2)
    }

    @Test("the end of a subscription leaves the rows of others")
    func unfollows() throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession()
        _ = try client.ask(#"[32,1,{},"tickertape.price.A"]"#)
        _ = try client.ask(#"[32,2,{"match":"prefix"},"tickertape.price."]"#)
        bench.play(Frames.trade("A", "1"), Frames.trade("B", "1"))
        #expect(try client.take().count == 3)
        _ = try client.ask("[34,3,1]")
        bench.play(Frames.trade("A", "2", time: 1), Frames.trade("B", "2", time: 1))
        #expect(try client.take().count == 2)
        _ = try client.ask(#"[32,4,{},"tickertape.price.A"]"#)
        _ = try client.ask("[34,5,2]")
        #expect(client.session.rows.count == 1)
        bench.play(Frames.trade("A", "3", time: 2), Frames.trade("B", "3", time: 2))
        #expect(try client.take().count == 1)
        _ = try client.ask("[34,6,3]")
        #expect(client.session.rows.count == 0)
    }

    @Test("a reason that begins with NUL is a text of the feed", arguments: [WAMPSerialisation.messagePack, .cbor])
    func reasonWithNUL(serialisation: WAMPSerialisation) throws {
        let bench = HubBench.wamp()
        let client = try bench.wampSession(serialisation)
        _ = try client.ask(#"[32,1,{},"tickertape.price.A"]"#)
        let refused = SymbolStatus(
            symbol: "A",
            state: .refused(.noSuchSymbol, retryAt: 5),
            since: 1,
            reason: "\u{0}!"
        )
        bench.hub.take(.symbol(refused))
        #expect(try client.takeFrames().count == 1)
    }
}
