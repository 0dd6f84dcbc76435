import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
@testable import Relay

@Suite("WAMP between clients")
struct WAMPBrokeredTests {
    @Test("a publication reaches the subscribers in their serialisation, and the publisher only if it asks")
    func publishes() throws {
        let bench = HubBench.wamp(broker: true)
        let sessions = try WAMPSerialisation.allCases.map { try bench.wampSession($0) }
        for session in sessions { #expect(try session.ask(#"[32,1,{},"com.chat"]"#) == ["[33,1,1]"]) }
        let publisher = sessions[1]
        let answer = try publisher.ask(#"[16,2,{"acknowledge":true},"com.chat",["hi",1.5,"\u0000AQI="],{"k":null}]"#)
        #expect(answer.count == 1 && answer[0].has("[17,2,"))
        for session in [sessions[0], sessions[2]] {
            let events = try session.take()
            #expect(
                events.count == 1 && events[0].has("[36,1,", #",{},["hi",1.5,"\u0000AQI="],{"k":null}]"#),
                "\(events)"
            )
        }
        let own = try publisher.ask(#"[16,3,{"exclude_me":false},"com.chat"]"#)
        #expect(own.count == 1 && own[0].has("[36,1,", ",{}]"))
        #expect(try publisher.ask(#"[16,3,{"acknowledge":true},"com.nobody"]"#)[0].has("[17,3,"))
    }

    @Test("topics that differ in their bytes are different, even if they look the same")
    func equivalentTopics() throws {
        let bench = HubBench.wamp(broker: true)
        let (publisher, composed, parts) = (try bench.wampSession(), try bench.wampSession(), try bench.wampSession())
        #expect(try composed.ask(#"[32,1,{},"com.\u00e9"]"#) == ["[33,1,1]"])
        #expect(try parts.ask(#"[32,1,{},"com.e\u0301"]"#) == ["[33,1,2]"])
        try publisher.send(#"[16,1,{},"com.e\u0301",["x"]]"#)
        #expect(try composed.take() == [] && parts.take().count == 1)
    }

    @Test("publications are limited to the sessions that they name")
    func eligible() throws {
        let bench = HubBench.wamp(broker: true)
        let (publisher, first, second) = (try bench.wampSession(), try bench.wampClient(), try bench.wampClient())
        let (one, two) = (try first.hello(), try second.hello())
        for session in [first, second] { _ = try session.ask(#"[32,1,{"match":"prefix"},"com."]"#) }
        try publisher.send(#"[16,1,{"eligible":[\#(one)]},"com.a"]"#)
        #expect(try first.take().count == 1 && second.take() == [])
        try publisher.send(#"[16,1,{"exclude":[\#(one),\#(two)]},"com.a"]"#)
        #expect(try first.take() == [] && second.take() == [])
        try publisher.send(#"[16,1,{},"com.a"]"#)
        #expect(try first.take()[0].has(#"{"topic":"com.a"}"#) && second.take().count == 1)
    }

    @Test("nobody publishes or registers below tickertape. and wamp., and nothing else without the broker")
    func notAuthorized() throws {
        for broker in [true, false] {
            let bench = HubBench.wamp(broker: broker)
            let client = try bench.wampSession()
            for uri in ["tickertape.price.A", "tickertape", "wamp.x"] + (broker ? [] : ["com.x"]) {
                #expect(
                    try client.ask(#"[16,1,{"acknowledge":true},"\#(uri)"]"#)[0].has(
                        "[8,16,1,{},",
                        "wamp.error.not_authorized"
                    )
                )
                #expect(try client.ask(#"[16,1,{},"\#(uri)"]"#) == [])
                #expect(try client.ask(#"[64,1,{},"\#(uri)"]"#)[0].has("[8,64,1,{},", "wamp.error.not_authorized"))
            }
        }
    }

    @Test("a call goes to the session that has registered the procedure, and its results come back")
    func calls() throws {
        let bench = HubBench.wamp(broker: true)
        let (caller, callee) = (try bench.wampSession(), try bench.wampSession(.cbor))
        #expect(try callee.ask(#"[64,1,{},"com.add"]"#) == ["[65,1,1]"])
        #expect(try caller.ask(#"[64,1,{},"com.add"]"#)[0].has("wamp.error.procedure_already_exists"))
        #expect(try caller.ask(#"[64,1,{"invoke":"random"},"com.b"]"#)[0].has("wamp.error.option_not_allowed"))
        #expect(try caller.ask(#"[48,5,{"receive_progress":true},"com.add",[1,2]]"#) == [])
        #expect(try callee.take() == [#"[68,1,1,{"receive_progress":true},[1,2]]"#])
        try callee.send(#"[70,1,{"progress":true},[1]]"#)
        try callee.send(#"[70,1,{},[3]]"#)
        #expect(try caller.take() == [#"[50,5,{"progress":true},[1]]"#, "[50,5,{},[3]]"])
        _ = try caller.ask(#"[48,6,{},"com.add"]"#)
        try callee.send(#"[8,68,2,{},"com.error.odd",["no"]]"#)
        #expect(try caller.take() == [#"[8,48,6,{},"com.error.odd",["no"]]"#])
        #expect(try callee.ask("[66,2,1]").last == "[67,2]")
        #expect(try caller.ask(#"[48,7,{},"com.add"]"#)[0].has("wamp.error.no_such_procedure"))
    }

    @Test("a call whose callee leaves or is silent fails, and a canceled one is interrupted")
    func failures() throws {
        let bench = HubBench.wamp(broker: true)
        let (caller, callee) = (try bench.wampSession(), try bench.wampSession())
        _ = try callee.ask(#"[64,1,{},"com.p"]"#)
        _ = try caller.ask(#"[48,1,{},"com.p"]"#)
        #expect(try caller.ask(#"[49,1,{"mode":"killnowait"}]"#)[0].has("[8,48,1,{},", "wamp.error.canceled"))
        #expect(try callee.take() == ["[68,1,1,{}]", #"[69,1,{"mode":"killnowait"}]"#])
        _ = try caller.ask(#"[48,2,{},"com.p"]"#)
        bench.loop.advanceTime(by: .seconds(59))
        #expect(try caller.take() == [])
        bench.loop.advanceTime(by: .seconds(3))
        #expect(try caller.take()[0].has("[8,48,2,{},", "wamp.error.timeout"))
        _ = try caller.ask(#"[48,3,{},"com.p"]"#)
        #expect(
            try caller.ask(#"[48,3,{},"com.p"]"#)[0].has("[3,", "protocol_violation"),
            "an id that waits is used again"
        )
        let other = try bench.wampSession()
        _ = try other.ask(#"[48,1,{},"com.p"]"#)
        _ = try callee.ask(#"[6,{},"wamp.close.normal"]"#)
        #expect(try other.take()[0].has("[8,48,1,{},", "wamp.error.canceled"))
    }

    @Test("the meta procedures show sessions, subscriptions and registrations")
    func meta() throws {
        let bench = HubBench.wamp(broker: true)
        let client = try bench.wampClient()
        let session = try client.hello()
        _ = try client.ask(#"[32,1,{"match":"prefix"},"com."]"#)
        _ = try client.ask(#"[64,1,{},"com.p"]"#)
        for (call, result) in [
            (#""wamp.session.count""#, "[50,9,{},[1]]"), (#""wamp.session.list""#, "[50,9,{},[[\(session)]]]"),
            (#""wamp.subscription.list""#, #"[50,9,{},[{"exact":[],"prefix":[1],"wildcard":[]}]]"#),
            (#""wamp.subscription.lookup",["com.",{"match":"prefix"}]"#, "[50,9,{},[1]]"),
            (#""wamp.subscription.lookup",["com."]"#, "[50,9,{},[null]]"),
            (#""wamp.subscription.match",["com.x"]"#, "[50,9,{},[[1]]]"),
            (#""wamp.subscription.match",["x"]"#, "[50,9,{},[null]]"),
            (#""wamp.subscription.get",[1]"#, #"[50,9,{},[{"id":1,"match":"prefix","uri":"com."}]]"#),
            (#""wamp.subscription.list_subscribers",[1]"#, "[50,9,{},[[\(session)]]]"),
            (#""wamp.subscription.count_subscribers",[1]"#, "[50,9,{},[1]]"),
            (#""wamp.registration.list""#, #"[50,9,{},[{"exact":[1],"prefix":[],"wildcard":[]}]]"#),
            (#""wamp.registration.lookup",["com.p"]"#, "[50,9,{},[1]]"),
            (#""wamp.registration.match",["com.q"]"#, "[50,9,{},[null]]"),
            (#""wamp.registration.get",[1]"#, #"[50,9,{},[{"id":1,"match":"exact","invoke":"single","uri":"com.p"}]]"#),
            (#""wamp.registration.list_callees",[1]"#, "[50,9,{},[[\(session)]]]"),
            (#""wamp.registration.count_callees",[1]"#, "[50,9,{},[1]]"),
        ] {
            #expect(try client.ask("[48,9,{},\(call)]") == [result], "\(call)")
        }
        #expect(try client.ask(#"[48,9,{},"wamp.session.get",[\#(session)]]"#)[0].has(#""session":\#(session)"#))
        for (call, uri) in [
            (#""wamp.session.get",[1]"#, "no_such_session"), (#""wamp.subscription.get",[7]"#, "no_such_subscription"),
            (#""wamp.registration.get",[7]"#, "no_such_registration"), (#""wamp.session.get""#, "invalid_argument"),
        ] {
            #expect(try client.ask("[48,9,{},\(call)]")[0].has("[8,48,9,{},", uri))
        }
    }

    @Test(
        "a mark or a joiner behind a dot hides no component",
        arguments: ["\u{301}", "\u{200D}", "\u{FE0F}"]
    )
    func hiddenDots(mark: String) throws {
        let bench = HubBench.wamp(broker: true)
        let client = try bench.wampSession()
        for uri in ["tickertape.\(mark)x", "wamp.\(mark)x"] {
            #expect(WAMPURI.components(uri).count == 2)
            #expect(
                try client.ask(#"[16,1,{"acknowledge":true},"\#(uri)"]"#)[0].has(
                    "[8,16,1,{},",
                    "wamp.error.not_authorized"
                )
            )
            #expect(try client.ask(#"[64,1,{},"\#(uri)"]"#)[0].has("[8,64,1,{},", "wamp.error.not_authorized"))
        }
        #expect(try client.ask(#"[32,1,{},"tickertape.\#(mark)x"]"#)[0].has("tickertape.error.no_such_topic"))
        #expect(try client.ask(#"[32,1,{},"wamp.\#(mark)x"]"#)[0].has("wamp.error.not_authorized"))
        #expect(try client.ask(#"[48,1,{},"tickertape.\#(mark)x"]"#)[0].has("the procedures here are"))
        #expect(try client.ask(#"[48,1,{},"wamp.\#(mark)x"]"#)[0].has("wamp.error.no_such_procedure"))
    }

    @Test("a publication costs more the more subscriptions match it")
    func costOfMatches() throws {
        let bench = HubBench.wamp(broker: true) {
            $0.requestBurst = 8
            $0.requestsPerSecond = 1
        }
        let (publisher, subscriber) = (try bench.wampSession(), try bench.wampSession())
        for length in 1...WAMPLimits.subscriptionsPerRequest {
            let text = String(repeating: "c", count: length)
            #expect(try subscriber.ask(#"[32,1,{"match":"prefix"},"\#(text)"]"#)[0].has("[33,1,"))
        }
        let topic = String(repeating: "c", count: 20)
        let answers = try (1...5).flatMap { try publisher.ask(#"[16,\#($0),{"acknowledge":true},"\#(topic)"]"#) }
        #expect(answers.filter { $0.has("[17,") }.count == 4)
        #expect(answers.last?.has("[8,16,5,{},", "tickertape.error.rate_limited") == true)
    }

    @Test("without the broker a session sees only its own subscriptions")
    func metaWithoutBroker() throws {
        let bench = HubBench.wamp()
        let other = try bench.wampSession()
        let client = try bench.wampClient()
        let session = try client.hello()
        _ = try other.ask(#"[32,1,{},"tickertape.price.A"]"#)
        _ = try other.ask(#"[32,2,{},"tickertape.status"]"#)
        _ = try client.ask(#"[32,1,{},"tickertape.status"]"#)
        for (call, result) in [
            (#""wamp.subscription.list""#, #"[50,9,{},[{"exact":[2],"prefix":[],"wildcard":[]}]]"#),
            (#""wamp.subscription.lookup",["tickertape.price.A"]"#, "[50,9,{},[null]]"),
            (#""wamp.subscription.lookup",["tickertape.status"]"#, "[50,9,{},[2]]"),
            (#""wamp.subscription.match",["tickertape.price.A"]"#, "[50,9,{},[null]]"),
            (#""wamp.subscription.list_subscribers",[2]"#, "[50,9,{},[[\(session)]]]"),
            (#""wamp.subscription.count_subscribers",[2]"#, "[50,9,{},[1]]"),
        ] {
            #expect(try client.ask("[48,9,{},\(call)]") == [result], "\(call)")
        }
        for call in ["get", "list_subscribers", "count_subscribers"] {
            let answers = try client.ask(#"[48,9,{},"wamp.subscription.\#(call)",[1]]"#)
            #expect(answers[0].has("[8,48,9,{},", "wamp.error.no_such_subscription"))
        }
    }
}
