import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Relay

@Suite("Rooms: a client of a WebSocket")
struct RoomClientTests {
    private static let limits =
        #""limits":{"messageBytes":1000,"userBytes":40,"messageBurst":5,"messagesPerSecond":1}}"#

    @Test("the first message is the room; everybody gets a message, and who comes later gets it with the room")
    func messages() throws {
        let bench = HubBench.rooms()
        let (ann, listener) = (try bench.roomClient(), try bench.roomClient())
        let empty = #"{"type":"room","room":"lobby","users":[],"messages":[],"# + Self.limits
        #expect(try ann.takeTimeless() == [empty] && listener.takeTimeless() == [empty])
        let events = [
            #"{"type":"joined","user":"ann","userId":1}"#,
            #"{"type":"message","id":1,"user":"ann","userId":1,"message":"hi"}"#,
        ]
        #expect(try ann.ask(#"{"message":"hi","user":"ann"}"#) == events)
        #expect(try listener.takeTimeless() == events)
        #expect(try ann.ask(#"{"message":"and on"}"#).count == 1)
        let late = try bench.roomClient()
        #expect(
            try late.takeTimeless() == [
                #"{"type":"room","room":"lobby","users":[{"user":"ann","userId":1}],"messages":["#
                    + #"{"id":1,"user":"ann","userId":1,"message":"hi"},"#
                    + #"{"id":2,"user":"ann","userId":1,"message":"and on"}],"# + Self.limits
            ]
        )
    }

    @Test("times are milliseconds since 1970")
    func times() throws {
        let bench = HubBench.rooms()
        let client = try bench.roomClient()
        _ = try client.takeTexts()
        try client.send(#"{"user":"ann"}"#)
        let text = try #require(try client.takeTexts().first)
        let time = try #require(RunningProgram.number(in: text, behind: #""time":"#))
        #expect(abs(Int64(time) - bench.hub.wallClock() / 1_000_000) < 60_000)
    }

    @Test("presence: who joins, who takes another name and who leaves, for the members of the room only")
    func presence() throws {
        let bench = HubBench.rooms()
        let (ann, bob, other) = (try bench.roomClient(), try bench.roomClient(), try bench.roomClient("A:B"))
        for client in [ann, bob, other] { _ = try client.takeTimeless() }
        _ = try ann.ask(#"{"user":"ann"}"#)
        #expect(try bob.ask(#"{"user":"bob"}"#).count == 2)
        #expect(try ann.takeTimeless() == [#"{"type":"joined","user":"bob","userId":2}"#])
        #expect(try bob.ask(#"{"user":"bob"}"#) == [])
        _ = try bob.ask(#"{"user":"Bob"}"#)
        #expect(
            try ann.takeTimeless() == [
                #"{"type":"left","user":"bob","userId":2}"#, #"{"type":"joined","user":"Bob","userId":3}"#,
            ]
        )
        try bob.leave()
        #expect(try ann.takeTimeless() == [#"{"type":"left","user":"Bob","userId":3}"#])
        #expect(try other.takeTimeless() == [])
        // The name is free again.
        let next = try bench.roomClient()
        _ = try next.takeTimeless()
        #expect(try next.ask(#"{"user":"bob"}"#) == [#"{"type":"joined","user":"bob","userId":4}"#])
    }

    @Test(
        "what the room does not take is answered to its sender only, and changes nothing",
        arguments: [
            ("hi", "invalid-message"), (#"{"text":"hi"}"#, "invalid-message"), (#"{"message":""}"#, "bad-message"),
            (#"{"message":"a\u001b"}"#, "bad-message"), (#"{"user":"\u202eann"}"#, "bad-user"),
            (#"{"user":"ANN"}"#, "user-taken"), (#"{"message":"hi","user":"ANN"}"#, "user-taken"),
            (#"{"message":"hi"}"#, "no-user"), (#"{"message":"","user":"bob"}"#, "bad-message"),
            (#"{"user":"\#(String(repeating: "x", count: 41))"}"#, "too-long"),
            (#"{"message":"\#(String(repeating: "x", count: 30_000))"}"#, "too-long"),
        ]
    )
    func faults(request: String, code: String) throws {
        let bench = HubBench.rooms()
        let (ann, other) = (try bench.roomClient(), try bench.roomClient())
        _ = try ann.ask(#"{"user":"ann"}"#)
        _ = try other.takeTimeless()
        let answers = try other.ask(request)
        #expect(answers.count == 1, "\(answers)")
        #expect(answers.last?.has(#"{"type":"error","msg":""#, #"","code":"\#(code)"}"#) == true, "\(answers)")
        #expect(try ann.takeTimeless() == [])
        #expect(bench.hub.rooms.state(of: "lobby").users.count == 1)
    }

    @Test("a burst of five messages, then one a second; the connection stays")
    func rate() throws {
        let bench = HubBench.rooms()
        let (ann, other) = (try bench.roomClient(), try bench.roomClient())
        _ = try ann.takeTimeless()
        for number in 1...5 {
            let events = try ann.ask(#"{"message":"\#(number)","user":"ann"}"#)
            #expect(events.last?.has(#"{"type":"message","id":\#(number),"#) == true)
        }
        for _ in 0..<50 {
            let answers = try ann.ask(#"{"message":"6"}"#)
            #expect(answers.count == 1 && answers[0].has(#""code":"too-fast""#))
        }
        bench.loop.advanceTime(by: .milliseconds(900))
        #expect(try ann.ask(#"{"message":"6"}"#)[0].has("too-fast"))
        bench.loop.advanceTime(by: .milliseconds(200))
        #expect(try ann.ask(#"{"message":"6"}"#)[0].has(#""id":6,"#))
        #expect(try ann.ask(#"{"message":"7"}"#)[0].has("too-fast"))
        // The room, the name and six messages.
        #expect(try other.takeTimeless().count == 8)
    }

    @Test("clients that connect again share the rate of the room")
    func reconnecting() throws {
        let bench = HubBench.rooms()
        var (taken, refused) = (0, 0)
        // Names count as messages.
        for _ in 0..<60 {
            let client = try bench.roomClient()
            _ = try client.takeTimeless()
            for _ in 0..<RoomLimits.burst {
                let answer = try client.ask(#"{"message":"hi","user":"ann"}"#).last
                if answer?.has(#""type":"message""#) == true { taken += 1 }
                if answer?.has(#""code":"too-fast""#) == true { refused += 1 }
            }
            try client.leave()
        }
        #expect(taken == RoomLimits.roomBurst && refused == 60 * RoomLimits.burst - taken)
    }

    @Test("too many requests are answered, and then end the connection, as at /v1/stream")
    func flood() throws {
        let bench = HubBench.rooms {
            $0.requestBurst = 2
            $0.requestsPerSecond = 1
        }
        let client = try bench.pipedRoom()
        for _ in 0..<5 { try client.send("{}") }
        let texts = try client.takeTexts()
        #expect(texts.contains { $0.has(#""code":"rate-limited""#) })
        #expect(texts.last == "1008 too many requests")
    }

    @Test("an event is encoded once for all")
    func encodedOnce() throws {
        let bench = HubBench.rooms()
        let clients = try (0..<3).map { _ in try bench.roomClient() }
        for client in clients { _ = try client.takeTexts() }
        try clients[0].send(#"{"user":"ann"}"#)
        let places = try clients.map { client in
            guard case .framed(let bytes)? = try client.channel.readOutbound(as: WebSocketOutput.self) else { return 0 }
            return bytes.withUnsafeReadableBytes { Int(bitPattern: $0.baseAddress) }
        }
        #expect(places[0] != 0 && Set(places).count == 1)
    }

    @Test("a client that does not read is closed with the number of messages that it missed, and its user leaves")
    func slow() throws {
        let bench = HubBench.rooms { $0.maximumWaitingBytes = 4_096 }
        let slow = try bench.pipedRoom()
        try slow.send(#"{"user":"slow"}"#)
        _ = try slow.takeTexts()
        slow.stopReading(fillsChannel: true)
        let text = String(repeating: "x", count: 900)
        let writer = try bench.roomClient()
        _ = try writer.ask(#"{"user":"ann"}"#)
        for _ in 0..<20 {
            bench.loop.advanceTime(by: .milliseconds(300))
            _ = try writer.ask(#"{"message":"\#(text)"}"#)
        }
        let sent = bench.hub.rooms.state(of: "lobby").messages.count
        slow.goOnReading()
        bench.loop.run()
        let texts = try slow.takeTexts()
        let got = texts.count { $0.has(#"{"type":"message""#) }
        #expect(got > 0 && got < sent)
        #expect(texts.last == "1013 too slow: \(sent - got) messages missed", "\(texts.last ?? "")")
        #expect(try writer.takeTimeless().last == #"{"type":"left","user":"slow","userId":1}"#)
    }

    @Test("one that is full says so and closes")
    func full() throws {
        let bench = HubBench.rooms()
        let members = try (0..<RoomLimits.members).map { _ in try bench.roomClient() }
        let late = try bench.pipedRoom()
        let texts = try late.takeTexts()
        #expect(texts.count == 2 && texts[0].has(#""code":"room-full""#) && texts[1].hasPrefix("1013 "))
        try members[0].leave()
        #expect(try bench.pipedRoom().takeTexts().map { $0.hasPrefix(#"{"type":"room""#) } == [true])
    }

    @Test("at the end of the relay nobody is reported to leave")
    func stop() throws {
        let bench = HubBench.rooms()
        let clients = try (0..<3).map { _ in try bench.pipedRoom() }
        for (number, client) in clients.enumerated() { try client.send(#"{"user":"u\#(number)"}"#) }
        bench.loop.run()
        for client in clients { _ = try client.takeTexts() }
        bench.hub.stop(reason: "the relay is stopping", within: .seconds(1))
        for client in clients { #expect(try client.takeTexts() == ["1001 the relay is stopping"]) }
    }

    @Test("messages of earlier runs are there for the first client, and each new message is passed on to be kept")
    func keeping() throws {
        let bench = HubBench.rooms()
        let kept = NIOLockedValueBox<[RoomRecord]>([])
        let earlier = EarlierRooms([
            RoomMessage(4, "old"), RoomMessage(5, "spoilt\u{1B}"), RoomMessage(6, "older"),
        ])
        bench.hub.rooms.begin(with: earlier) { record in kept.withLockedValue { $0.append(record) } }
        #expect(earlier.leftOut == 1)
        let client = try bench.roomClient()
        #expect(try client.takeTimeless()[0].has(#""messages":[{"id":4,"#, #""message":"old"},{"id":6,"#))
        #expect(try client.ask(#"{"message":"new","user":"ann"}"#).last?.has(#""id":7,"#) == true)
        _ = try client.ask(#"{"message":""}"#)
        guard case .message(let message)? = kept.withLockedValue({ $0.first }) else { throw RoomFault.noUser }
        #expect(message.text == "new" && kept.withLockedValue { $0.count } == 1)
    }

    @Test("a room that makes place for another one is not kept any longer; one with members is")
    func givingUp() throws {
        let bench = HubBench.rooms()
        let kept = NIOLockedValueBox<[RoomRecord]>([])
        let earlier = EarlierRooms((0..<RoomLimits.rooms).map { RoomMessage(1, "hi", room: "r\($0)") })
        bench.hub.rooms.begin(with: earlier) { record in kept.withLockedValue { $0.append(record) } }
        for room in ["r0", "new"] { _ = try bench.roomClient(room) }
        #expect(kept.withLockedValue { $0 } == [.givenUp("r1")])
        let line = try PipedLines(on: bench)
        _ = try line.ask("room newer")
        _ = try bench.wampSession().ask(
            #"[16,1,{"acknowledge":true},"tickertape.room.newest",[],{"message":"hi","user":"ann"}]"#
        )
        #expect(kept.withLockedValue { Array($0.prefix(3)) } == ["r1", "r2", "r3"].map { .givenUp($0) })
        #expect(kept.withLockedValue { $0.map(\.isMessage) } == [false, false, false, true])
    }

    @Test("a path names a room, percent-encoded")
    func paths() throws {
        let bench = HubBench.rooms()
        let context = bench.hub.context
        func make(_ uri: String) throws -> RoomClient {
            try RoomClient(request: HTTPRequestHead(version: .http1_1, method: .GET, uri: uri), context: context)
        }
        for uri in ["/v1/room/lobby", "/v1/room/BINANCE%3ABTCUSDT", "/v1/room/IC%20MARKETS:1", "/v1/room/a%2Fb"] {
            #expect(RoomClient.serves(Substring(uri)))
            #expect(throws: Never.self) { try make(uri) }
        }
        for uri in ["/v1/room", "/v1/rooms/lobby", "/v1/room/a/b", "/v1/room/lobby/", "/"] {
            #expect(!RoomClient.serves(Substring(uri)))
        }
        let long = String(repeating: "x", count: 65)
        for uri in ["/v1/room/", "/v1/room/%", "/v1/room/%ff", "/v1/room/%20", "/v1/room/%0a", "/v1/room/\(long)"] {
            #expect(throws: HTTPRefusal.self, "\(uri)") { try make(uri) }
        }
        #expect(throws: HTTPRefusal.self) { try make("/v1/room/lobby?user=ann") }
    }
}

@Suite("Rooms: the endpoint", .timeLimit(.minutes(2 * Patience.factor)))
struct RoomEndpointTests {
    @Test("clients are counted as clients of rooms, and a page's subprotocol is agreed on")
    func counted() async throws {
        try await RelayFixture.run {
            $0.rooms = true
        } body: { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            let offer = "Sec-WebSocket-Protocol: tickertape.v1.json\r\n"
            let head = try await client.request(RawClient.upgrade("/v1/room/BINANCE%3ABTCUSDT", headers: offer))
            #expect(head.hasPrefix("HTTP/1.1 101 ") && head.contains("tickertape.v1.json"))
            #expect(try await client.frame().text.hasPrefix(#"{"type":"room","room":"BINANCE:BTCUSDT","users":[]"#))
            try await client.send(#"{"message":"hi","user":"ann"}"#)
            #expect(try await client.frame().text.hasPrefix(#"{"type":"joined","time":"#))
            #expect(try await client.frame().text.hasPrefix(#"{"type":"message","id":1,"time":"#))
            let other = try await RawClient.connect(to: fixture.address)
            let answer = try await other.request("GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            #expect(try await other.text(of: answer).contains(#""room":1"#))
        }
    }

    @Test("they are off by default: there is no such path")
    func off() async throws {
        try await RelayFixture.run { fixture in
            let client = try await RawClient.connect(to: fixture.address)
            #expect(try await client.request(RawClient.upgrade("/v1/room/lobby")).hasPrefix("HTTP/1.1 404 "))
        }
        #expect(!RelayProtocols.builtIn(RelaySettings()).all.contains { $0 == RoomClient.self })
    }
}
