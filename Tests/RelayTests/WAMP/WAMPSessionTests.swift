import Market
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("A session of WAMP")
struct WAMPSessionTests {
    @Test(
        "HELLO opens a session in the realm; anything before it ends the connection",
        arguments: WAMPSerialisation.allCases
    )
    func hello(serialisation: WAMPSerialisation) throws {
        let bench = HubBench.wamp()
        let client = try bench.wampClient(serialisation)
        let welcome = try client.ask(#"[1,"tickertape",{"roles":{"subscriber":{}}}]"#)
        #expect(
            welcome.count == 1
                && welcome[0].has("[2,", #""realm":"tickertape""#, #""authrole":"anonymous""#, #""dealer""#)
        )
        let again = try client.ask(#"[1,"tickertape",{"roles":{"subscriber":{}}}]"#)
        #expect(again.count == 2 && again[0].has("[3,", "wamp.error.protocol_violation") && again[1].has("1002"))
        for (hello, reason) in [
            (#"[1,"other",{"roles":{"caller":{}}}]"#, "wamp.error.no_such_realm"),
            (#"[1,"tickertape",{}]"#, "wamp.error.protocol_violation"),
            (#"[1,"tickertape",{"roles":{"dancer":{}}}]"#, "wamp.error.protocol_violation"),
            (#"[1,"tickertape",{"roles":{"caller":1}}]"#, "wamp.error.protocol_violation"),
            (
                #"[1,"tickertape",{"roles":{"caller":{}},"authmethods":["ticket"]}]"#,
                "wamp.error.no_matching_auth_method"
            ),
            (#"[32,1,{},"tickertape.status"]"#, "wamp.error.protocol_violation"),
        ] {
            let other = try bench.wampClient(serialisation)
            let answers = try other.ask(hello)
            #expect(answers.count == 2 && answers[0].has("[3,", reason), "\(hello): \(answers)")
            #expect(try other.ask(#"[1,"tickertape",{"roles":{"caller":{}}}]"#) == [], "it is closed")
        }
    }

    @Test("a client that sends no HELLO is closed in time")
    func silence() throws {
        let bench = HubBench.wamp { $0.handshakeTimeout = .seconds(10) }
        let client = try bench.wampClient()
        bench.loop.advanceTime(by: .seconds(9))
        #expect(try client.take() == [])
        let open = try bench.wampSession()
        bench.loop.advanceTime(by: .seconds(2))
        #expect(try client.take().last?.has("1008") == true)
        bench.loop.advanceTime(by: .seconds(20))
        #expect(try open.take() == [])
    }

    @Test("a wrong message is answered by ABORT and ends the connection")
    func violations() throws {
        let bench = HubBench.wamp()
        for text in [
            "x", "[]", "{}", "[99]", #"[32,0,{},"t"]"#, #"[16,1,{},7]"#, String(repeating: "[", count: 60_000),
            #"[36,1,1,{}]"#,
        ] {
            let client = try bench.wampSession()
            try client.sendRaw(ByteBuffer(string: text), isBinary: false)
            let answers = try client.take()
            #expect(
                answers.count == 2 && answers[0].has("[3,", "protocol_violation") && answers[1].has("1002"),
                "\(text.prefix(20))"
            )
        }
        for serialisation in WAMPSerialisation.allCases {
            let client = try bench.wampSession(serialisation)
            try client.sendRaw(serialisation.encode(.list([])), isBinary: !serialisation.isBinary)
            #expect(try client.take().last?.has("1003") == true)
        }
        #expect(bench.hub.context.index.fanout(of: WAMPClient.self).router.sessions.isEmpty)
    }

    @Test("the client's first known subprotocol is chosen; without one the request is refused with the three names")
    func subprotocols() throws {
        func offered(_ names: String, uri: String = "/wamp") throws -> WAMPSerialisation {
            try WAMPHandshake.serialisation(
                HTTPRequestHead(
                    version: .http1_1,
                    method: .GET,
                    uri: uri,
                    headers: ["Sec-WebSocket-Protocol": names]
                )
            )
        }
        #expect(try offered("wamp.2.cbor, wamp.2.json") == .cbor)
        #expect(try offered("wamp.2.ubjson, wamp.2.msgpack") == .messagePack)
        for names in ["", "wamp.1", "wamp.2.json.batched"] {
            do {
                _ = try offered(names)
                Issue.record("\(names) is accepted")
            } catch let refusal as HTTPRefusal {
                #expect(refusal.type == "unknown-subprotocol" && refusal.status == .badRequest)
                #expect(refusal.hint?.has("wamp.2.json", "wamp.2.msgpack", "wamp.2.cbor") == true)
            }
        }
        #expect(throws: HTTPRefusal.self) { try offered("wamp.2.json", uri: "/wamp?symbols=A") }
    }

    @Test("GOODBYE is answered, the end of the relay says GOODBYE itself, and ABORT needs no answer")
    func goodbye() throws {
        let bench = HubBench.wamp()
        let (leaves, stays, aborts) = (try bench.wampSession(), try bench.wampSession(), try bench.wampSession())
        let answers = try leaves.ask(#"[6,{},"wamp.close.close_realm"]"#)
        #expect(answers.count == 2 && answers[0].has("[6,", "wamp.close.goodbye_and_out") && answers[1].has("1000"))
        #expect(try aborts.ask(#"[3,{},"a.b"]"#).map { $0.has("1000") } == [true])
        bench.stop()
        let last = try stays.take()
        #expect(last.count == 2 && last[0].has("[6,", "wamp.close.system_shutdown") && last[1].has("1001"))
    }

    @Test("messages about what does not exist change nothing, and nothing follows the end")
    func order() throws {
        let bench = HubBench.wamp(broker: true)
        let (caller, callee, other) = (try bench.wampSession(), try bench.wampSession(), try bench.wampSession())
        _ = try callee.ask(#"[64,1,{},"com.p"]"#)
        _ = try caller.ask(#"[48,1,{},"com.p"]"#)
        #expect(try callee.take() == ["[68,1,1,{}]"])
        // The answers of a session that was not asked, and to what was not asked.
        for answer in [
            "[70,1,{},[0]]", #"[8,68,1,{},"com.e"]"#, "[70,7,{}]", "[49,9,{}]", #"[70,1,{"progress":true}]"#,
        ] {
            #expect(try other.ask(answer) == [] && caller.take() == [] && callee.take() == [], "\(answer)")
        }
        #expect(try other.ask("[34,1,1]")[0].has("[8,34,1,{},", "no_such_subscription"))
        #expect(try other.ask("[66,1,1]")[0].has("[8,66,1,{},", "no_such_registration"))
        try callee.send(#"[70,1,{"progress":true},[1]]"#)
        #expect(try caller.take() == [], "no progress was asked for")
        try callee.send("[70,1,{},[3]]")
        try callee.send("[70,1,{},[4]]")
        #expect(try caller.take() == ["[50,1,{},[3]]"], "a call has one result")
        for end in [
            #"[6,{},"wamp.close.normal"]"#, #"[3,{},"a.b"]"#, #"[1,"tickertape",{"roles":{"caller":{}}}]"#, "x",
        ] {
            let client = try bench.wampSession()
            #expect(try !client.ask(#"[32,1,{},"tickertape.price.A"]"#).isEmpty)
            #expect(try !client.sendRawAndTake(end).isEmpty)
            for late in [#"[16,2,{"acknowledge":true},"com.t"]"#, #"[32,3,{},"com.t"]"#, end] {
                #expect(try client.sendRawAndTake(late) == [], "\(late) behind \(end)")
            }
        }
        let router = bench.hub.context.index.fanout(of: WAMPClient.self).router
        #expect(router.sessions.count == 3 && router.broker.matching("com.t").isEmpty)
    }

    @Test("requests beyond the rate are refused, and a flood ends the session")
    func rate() throws {
        let bench = HubBench.wamp {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        }
        let client = try bench.wampSession()
        var answers: [String] = []
        for request in 1...12 { answers += try client.ask(#"[34,\#(request),1]"#) }
        #expect(answers.filter { $0.has("no_such_subscription") }.count == 5)
        #expect(answers.filter { $0.has("tickertape.error.rate_limited") }.count == 5)
        #expect(answers.last?.has("1008", "too many requests") == true)
    }

    @Test("beyond the rate a final result still reaches the caller, and GOODBYE is still answered")
    func freeOfCost() throws {
        let bench = HubBench.wamp(broker: true) {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        }
        let (caller, callee) = (try bench.wampSession(), try bench.wampSession())
        _ = try callee.ask(#"[64,1,{},"com.p"]"#)
        _ = try caller.ask(#"[48,1,{},"com.p"]"#)
        let answers = try (1...6).flatMap { try callee.ask("[34,\($0),1]") }
        #expect(answers.last?.has("tickertape.error.rate_limited") == true)
        try callee.send("[70,1,{},[3]]")
        #expect(try caller.take() == ["[50,1,{},[3]]"])
        let last = try callee.ask(#"[6,{},"wamp.close.close_realm"]"#)
        #expect(last.count == 2 && last[0].has("[6,", "wamp.close.goodbye_and_out"))
    }

    @Test("a progressive result costs as much as a publication of its size")
    func costOfProgress() throws {
        let bench = HubBench.wamp(broker: true) {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        }
        let (caller, callee) = (try bench.wampSession(), try bench.wampSession())
        _ = try callee.ask(#"[64,1,{},"com.p"]"#)
        _ = try caller.ask(#"[48,1,{"receive_progress":true},"com.p"]"#)
        let text = String(repeating: "x", count: 5 * WAMPLimits.bytesPerRequest)
        try callee.send(#"[70,1,{"progress":true},["\#(text)"]]"#)
        #expect(try caller.take() == [])
        try callee.send("[70,1,{},[3]]")
        #expect(try caller.take() == ["[50,1,{},[3]]"])
    }

    @Test("the end of a pattern costs as much as its beginning")
    func costOfPattern() throws {
        let bench = HubBench.wamp {
            $0.requestBurst = 5
            $0.requestsPerSecond = 1
        }
        for number in 0..<(5 * WAMPLimits.answeredPerRequest) { bench.play(Frames.trade("S\(number)", "1")) }
        let client = try bench.wampSession()
        #expect(try client.ask(#"[32,1,{"match":"prefix"},"tickertape.trades."]"#) == ["[33,1,1]"])
        bench.loop.advanceTime(by: .seconds(2))
        #expect(try client.ask("[34,2,1]")[0].has("[8,34,2,{},", "tickertape.error.rate_limited"))
        bench.loop.advanceTime(by: .seconds(20))
        #expect(try client.ask("[34,3,1]") == ["[35,3]"])
    }
}
