import NIOCore
import NIOEmbedded
import Testing
import Wire
@testable import Relay

@Suite("Rooms: over WAMP")
struct RoomWAMPTests {
    private func take(_ client: WAMPBenchClient) throws -> [String] {
        client.channel.embeddedEventLoop.run()
        return try client.take()
    }

    @Test("a topic has the room's events, the publisher's own ones included", arguments: WAMPSerialisation.allCases)
    func events(serialisation: WAMPSerialisation) throws {
        let bench = HubBench.rooms()
        let (ann, bob) = (try bench.wampSession(serialisation), try bench.wampSession(serialisation))
        #expect(try ann.ask(#"[32,1,{},"tickertape.room.A%3AB"]"#) == ["[33,1,1]"])
        #expect(try bob.ask(#"[32,7,{},"tickertape.room.A:B"]"#) == ["[33,7,1]"])
        let answers = try ann.ask(
            #"[16,2,{"acknowledge":true,"exclude_me":true},"tickertape.room.A:B",[],{"message":"hi","user":"ann"}]"#
        )
        try #require(answers.count == 3)
        #expect(answers[0].has("[36,1,", #",{},[{"type":"joined","time":"#, #""user":"ann","userId":1}]]"#))
        #expect(answers[1].has("[36,1,", #"{"type":"message","id":1,"#, #""userId":1,"message":"hi"}]]"#))
        // The publication of the acknowledgement is that of the message.
        let publication = answers[2].split(separator: ",").last?.dropLast() ?? ""
        #expect(answers[2].hasPrefix("[17,2,") && answers[1].hasPrefix("[36,1,\(publication),"), "\(answers)")
        #expect(try self.take(bob) == Array(answers.prefix(2)))
    }

    @Test("an object may be the argument, no acknowledgement is sent unasked, and a publisher need not subscribe")
    func forms() throws {
        let bench = HubBench.rooms()
        let (reader, writer) = (try bench.wampSession(), try bench.wampSession())
        _ = try reader.ask(#"[32,1,{},"tickertape.room.lobby"]"#)
        #expect(try writer.ask(#"[16,1,{},"tickertape.room.lobby",[{"message":"hi","user":"ann"}]]"#) == [])
        #expect(try self.take(reader).map { $0.has(#""message":"hi""#) } == [false, true])
        #expect(try writer.ask(#"[16,2,{},"tickertape.room.lobby",[],{"message":"on","user":null}]"#) == [])
        #expect(try self.take(reader).map { $0.has(#""message":"on""#) } == [true])
        writer.channel.close(promise: nil)
        #expect(try self.take(reader).map { $0.has(#""type":"left""#) } == [true])
    }

    @Test("who unsubscribes or ends the session leaves")
    func leaving() throws {
        let bench = HubBench.rooms()
        let client = try bench.roomClient()
        let session = try bench.wampSession()
        _ = try session.ask(#"[32,1,{},"tickertape.room.lobby"]"#)
        _ = try session.ask(#"[16,2,{},"tickertape.room.lobby",[],{"user":"ann"}]"#)
        _ = try client.takeTimeless()
        #expect(try session.ask("[34,3,1]") == ["[35,3]"])
        #expect(try client.takeTimeless() == [#"{"type":"left","user":"ann","userId":1}"#])
        _ = try session.ask(#"[32,4,{},"tickertape.room.lobby"]"#)
        _ = try session.ask(#"[16,5,{},"tickertape.room.lobby",[],{"user":"ann"}]"#)
        _ = try client.takeTimeless()
        _ = try session.ask(#"[6,{},"wamp.close.close_realm"]"#)
        #expect(try client.takeTimeless() == [#"{"type":"left","user":"ann","userId":2}"#])
    }

    @Test(
        "what the room does not take is an error with its kind",
        arguments: [
            (#"[],{"message":"hi"}"#, "tickertape.error.no_user"), ("[]", "tickertape.error.invalid_message"),
            (#"["hi"]"#, "tickertape.error.invalid_message"),
            (#"[],{"user":"ANN"}"#, "tickertape.error.user_taken"), (#"[],{"user":7}"#, "tickertape.error.bad_user"),
            (#"[],{"message":"","user":"bob"}"#, "tickertape.error.bad_message"),
            (#"[],{"message":"\#(String(repeating: "x", count: 1_001))"}"#, "tickertape.error.too_long"),
        ]
    )
    func faults(payload: String, uri: String) throws {
        let bench = HubBench.rooms()
        let (ann, other) = (try bench.wampSession(), try bench.wampSession())
        _ = try ann.ask(#"[16,1,{},"tickertape.room.lobby",[],{"user":"ann"}]"#)
        let answers = try other.ask(#"[16,9,{"acknowledge":true},"tickertape.room.lobby",\#(payload)]"#)
        #expect(answers.count == 1 && answers[0].has("[8,16,9,{},", "\"\(uri)\""), "\(answers)")
        #expect(try other.ask(#"[16,10,{},"tickertape.room.lobby",\#(payload)]"#) == [])
        #expect(bench.hub.rooms.state(of: "lobby").users.map(\.name) == ["ann"])
    }

    @Test("a session has one rate for all its rooms, and a limit of rooms")
    func limits() throws {
        let bench = HubBench.rooms()
        let client = try bench.wampSession()
        for number in 0..<RoomLimits.roomsOfMember {
            #expect(try client.ask(#"[32,1,{},"tickertape.room.r\#(number)"]"#)[0].has("[33,1,"))
        }
        #expect(try client.ask(#"[32,1,{},"tickertape.room.more"]"#)[0].has("tickertape.error.too_many_rooms"))
        for number in 1...6 {
            let request = #"[16,1,{"acknowledge":true},"tickertape.room.r\#(number)",[],{"user":"ann"}]"#
            let isRefused = try client.ask(request).contains { $0.has("tickertape.error.too_fast") }
            #expect(isRefused == (number == 6))
        }
    }

    @Test("a refused publication does not enter its room")
    func refusedPublication() throws {
        let bench = HubBench.rooms()
        let client = try bench.wampSession()
        for number in 0..<RoomLimits.roomsOfMember {
            let publication = #"[16,1,{"acknowledge":true},"tickertape.room.r\#(number)",[],{"message":"hi"}]"#
            let code = number < RoomLimits.burst ? "no_user" : "too_fast"
            #expect(try client.ask(publication)[0].has("tickertape.error.\(code)"))
        }
        for number in 0..<RoomLimits.roomsOfMember {
            #expect(try client.ask(#"[32,1,{},"tickertape.room.s\#(number)"]"#)[0].has("[33,1,"))
        }
    }

    @Test("spellings of a room's name that differ in composition are one topic")
    func composition() throws {
        let bench = HubBench.rooms()
        let (reader, writer) = (try bench.wampSession(), try bench.wampSession())
        #expect(try reader.ask("[32,1,{},\"tickertape.room.caf\u{E9}\"]")[0].has("[33,1,"))
        _ = try writer.ask("[16,1,{},\"tickertape.room.cafe%CC%81\",[],{\"user\":\"ann\"}]")
        #expect(try self.take(reader).map { $0.has(#""type":"joined""#) } == [true])
        #expect(try reader.ask(#"[32,2,{},"tickertape.room.a%E2%80%80b"]"#)[0].has("wamp.error.invalid_uri"))
    }

    @Test("the procedure returns the room as a WebSocket begins with it")
    func procedure() throws {
        let bench = HubBench.rooms()
        let session = try bench.wampSession()
        let room = try bench.roomClient()
        #expect(try room.ask(#"{"message":"hi","user":"ann"}"#).count == 3)
        let first = try bench.roomClient()
        let begin = try #require(try first.takeTexts().first)
        #expect(try session.ask(#"[48,1,{},"tickertape.room",["lobby"]]"#) == ["[50,1,{},[\(begin)]]"])
        #expect(try session.ask(#"[48,2,{},"tickertape.room",[],{"room":"A:B"}]"#)[0].has(#""room":"A:B","users":[]"#))
        for arguments in ["", ",[7]", #",[""]"#, #",["a\u0000"]"#] {
            #expect(try session.ask(#"[48,3,{},"tickertape.room"\#(arguments)]"#)[0].has("wamp.error.invalid_argument"))
        }
        #expect(bench.hub.rooms.state(of: "A:B") == RoomState(name: "A:B"))
    }

    @Test("the procedure costs as much as the room's bytes")
    func cost() throws {
        let bench = HubBench.rooms {
            $0.requestBurst = 20
            $0.requestsPerSecond = 1
        }
        bench.fillLobby()
        let session = try bench.wampSession()
        bench.loop.advanceTime(by: .seconds(20))
        #expect(try session.ask(#"[48,1,{},"tickertape.room",["empty"]]"#)[0].hasPrefix("[50,1,"))
        bench.loop.advanceTime(by: .seconds(20))
        #expect(try session.ask(#"[48,2,{},"tickertape.room",["lobby"]]"#)[0].hasPrefix("[50,2,"))
        #expect(try session.ask(#"[48,3,{},"tickertape.room",["empty"]]"#)[0].hasPrefix("[8,48,3,"))
    }

    @Test(
        "topics that are no room are refused, and no pattern matches rooms",
        arguments: [
            (#"{},"tickertape.room""#, "no_such_topic"), (#"{},"tickertape.room.a.b""#, "invalid_uri"),
            (#"{},"tickertape.room.%20""#, "invalid_uri"), (#"{},"tickertape.room.%""#, "invalid_uri"),
            (#"{"match":"prefix"},"tickertape.room.""#, "no_such_topic"),
            (#"{"match":"wildcard"},"tickertape.room.""#, "no_such_topic"),
        ]
    )
    func refusals(request: String, uri: String) throws {
        let bench = HubBench.rooms()
        let answers = try bench.wampSession().ask("[32,9,\(request)]")
        #expect(answers.count == 1 && answers[0].has("[8,32,9,{},", uri), "\(answers)")
    }

    @Test("without rooms everything is as if there were none")
    func off() throws {
        let bench = HubBench.wamp(broker: true)
        let client = try bench.wampSession()
        #expect(try client.ask(#"[32,1,{},"tickertape.room.lobby"]"#)[0].has("tickertape.error.no_such_topic"))
        let publication = #"[16,2,{"acknowledge":true},"tickertape.room.lobby",[],{"user":"ann"}]"#
        #expect(try client.ask(publication)[0].has("wamp.error.not_authorized"))
        #expect(try client.ask(#"[48,3,{},"tickertape.room",["lobby"]]"#)[0].has("wamp.error.no_such_procedure"))
    }

    @Test("with rooms clients still publish to no other topic of this program")
    func others() throws {
        let bench = HubBench.rooms { $0.wampBroker = true }
        let client = try bench.wampSession()
        for topic in ["tickertape.price.A", "tickertape.rooms.lobby", "wamp.x"] {
            let answers = try client.ask(#"[16,2,{"acknowledge":true},"\#(topic)",[],{"user":"ann"}]"#)
            #expect(answers.count == 1 && answers[0].has("[8,16,2,", "wamp.error.not_authorized"), "\(topic)")
        }
    }
}
