import NIOCore
import Testing
@testable import Relay

@Suite("A client's message of WAMP")
struct WAMPRequestTests {
    private static func parse(_ json: String) throws -> WAMPRequest {
        try WAMPRequest(try WAMPJSONDecoder.decode(ByteBuffer(string: json)))
    }

    @Test("each message is read with its options")
    func messages() throws {
        #expect(try Self.parse(#"[1,"r",{"a":1}]"#) == .hello(realm: "r", ["a": .integer(1)]))
        #expect(try Self.parse(#"[6,{},"x"]"#) == .goodbye)
        #expect(try Self.parse(#"[3,{},"x"]"#) == .abort)
        #expect(try Self.parse(#"[32,1,{},"a.b"]"#) == .subscribe(1, topic: "a.b", match: .exact))
        #expect(try Self.parse(#"[32,1,{"match":"wildcard"},"a."]"#) == .subscribe(1, topic: "a.", match: .wildcard))
        #expect(try Self.parse(#"[32,1,{"match":"odd"},"a"]"#) == .subscribe(1, topic: "a", match: nil))
        #expect(try Self.parse("[34,9007199254740992,7]") == .unsubscribe(1 << 53, subscription: 7))
        #expect(
            try Self.parse(
                #"[16,2,{"acknowledge":true,"exclude_me":false,"exclude":[5],"eligible":[6]},"t",[1],{"k":2}]"#
            )
                == .publish(
                    2,
                    WAMPRequest.PublishOptions(
                        isAcknowledged: true,
                        excludesPublisher: false,
                        excluded: [5],
                        eligible: [6]
                    ),
                    topic: "t",
                    WAMPPayload(arguments: [.integer(1)], keywords: ["k": .integer(2)])
                )
        )
        #expect(
            try Self.parse(#"[48,3,{"receive_progress":true,"timeout":50},"p"]"#)
                == .call(3, WAMPRequest.CallOptions(receivesProgress: true, timeout: 50), procedure: "p", WAMPPayload())
        )
        #expect(try Self.parse(#"[49,3,{"mode":"kill"}]"#) == .cancel(3, .kill))
        #expect(try Self.parse("[49,3,{}]") == .cancel(3, .killnowait))
        #expect(try Self.parse(#"[64,4,{},"p"]"#) == .register(4, procedure: "p", isUsual: true))
        #expect(try Self.parse(#"[64,4,{"invoke":"roundrobin"},"p"]"#) == .register(4, procedure: "p", isUsual: false))
        #expect(try Self.parse("[66,5,6]") == .unregister(5, registration: 6))
        #expect(
            try Self.parse(#"[70,6,{"progress":true},[]]"#)
                == .yield(6, isProgress: true, WAMPPayload(arguments: []))
        )
        #expect(
            try Self.parse(#"[8,68,7,{},"a.b"]"#) == .failed(7, WAMPFailure(uri: "a.b", payload: WAMPPayload()))
        )
    }

    @Test("a publication that names who may get it reaches nobody if that is no name of a session here")
    func names() throws {
        for options in [#""eligible_authrole":["admin"]"#, #""exclude_authid":["anonymous"]"#] {
            let request = try Self.parse(#"[16,2,{\#(options)},"t"]"#)
            #expect(
                request
                    == .publish(2, WAMPRequest.PublishOptions(eligible: []), topic: "t", WAMPPayload())
            )
        }
    }

    @Test(
        "anything else is a violation",
        arguments: [
            "{}", "1", "[]", #"["1"]"#, "[1]", "[2,1,{}]", "[99]", "[36,1,2,{}]", "[1.0]", #"[1,"r"]"#, #"[1,"r",[]]"#,
            #"[32,0,{},"t"]"#, #"[32,-1,{},"t"]"#, #"[32,9007199254740993,{},"t"]"#,
            #"[32,18446744073709551615,{},"t"]"#,
            #"[32,"1",{},"t"]"#, "[32,1,{},7]", #"[32,1,[],"t"]"#, #"[32,1,{},"t",[]]"#, #"[32,1,{"match":1},"t"]"#,
            #"[16,1,{"acknowledge":1},"t"]"#, #"[16,1,{"exclude":["x"]},"t"]"#, #"[16,1,{},"t",{}]"#,
            #"[16,1,{},"t",[],[]]"#, #"[16,1,{},"t",[],{},1]"#, #"[48,1,{"timeout":-1},"p"]"#,
            #"[49,1,{"mode":"odd"}]"#, #"[8,48,1,{},"e"]"#, #"[8,68,1,{},"not a uri"]"#, "[34,1]", "[66,1,2,3]",
            #"[5,"signature",{}]"#,
        ]
    )
    func violations(json: String) {
        #expect(throws: WAMPViolation.self) { try Self.parse(json) }
    }

    @Test("a URI has components without blanks; a symbol is one component")
    func uris() {
        for uri in ["a", "a.b", "tickertape.price.BINANCE:BTCUSDT", "ä.ö"] { #expect(WAMPURI.isValid(uri)) }
        for text in ["", ".", "a.", ".a", "a..b", "a b", "a#b", "a\tb", String(repeating: "a", count: 257)] {
            #expect(!WAMPURI.isValid(text))
        }
        #expect(WAMPURI.isValidPattern("a..b.") && WAMPURI.isValidPattern("") && !WAMPURI.isValidPattern("a #"))
        let symbol = "IC MARKETS:1.5#%é"
        #expect(WAMPTopic.price(symbol).uri == "tickertape.price.IC%20MARKETS:1%2E5%23%25é")
        #expect(try! WAMPTopic(WAMPTopic.price(symbol).uri) == .price(symbol))
        #expect(try! WAMPTopic("tickertape.trades.BINANCE%3ABTCUSDT").uri == "tickertape.trades.BINANCE:BTCUSDT")
        #expect(WAMPURI.isValid(WAMPTopic.price(symbol).uri))
    }
}
