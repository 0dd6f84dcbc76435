import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import Wire
@testable import Relay

@Suite("Rooms: in plain lines")
struct RoomLineTests {
    @Test(
        "the commands of rooms",
        arguments: [
            ("iam:ann", .user("ann")), ("  iam: Ann Lee ", .user("Ann Lee")), ("iam:", .user("")),
            ("msg:hi  there json", .message("hi  there json")), ("msg: hi ", .message("hi")),
            ("room lobby", .room("lobby", nil)), ("room IC MARKETS:1", .room("IC MARKETS:1", nil)),
            ("room  A:B  json ", .room("A:B", .json)), ("room lobby plain", .room("lobby", .plain)),
            ("room", .faulty("room needs a name, such as lobby")),
            ("room json", .faulty("room needs a name, such as lobby")),
            ("rooms", .faulty("unknown command rooms; send help")),
        ] as [(String, LineCommand)]
    )
    func commands(line: String, command: LineCommand) { #expect(LineCommand.parse(line) == command) }

    @Test("iam and msg are answered by a line each, which the others get as well")
    func messages() throws {
        let bench = HubBench.rooms()
        let (ann, bob) = (try PipedLines(on: bench), try PipedLines(on: bench))
        #expect(try ann.ask("iam:ann") == ["# lobby: ann has joined"])
        #expect(try bob.ask("iam:bob") == ["# lobby: bob has joined"])
        #expect(try ann.take() == ["# lobby: bob has joined"])
        #expect(try ann.ask("msg:hi there") == ["# lobby <ann> hi there"])
        #expect(try bob.take() == ["# lobby <ann> hi there"])
        #expect(try ann.ask("iam:ann") == ["# you have the name ann already"])
        #expect(try bob.ask("iam:rob") == ["# lobby: bob has left", "# lobby: rob has joined"])
        _ = try ann.take()
        #expect(try bob.ask("quit") == [])
        bob.endInput()
        #expect(try ann.take() == ["# lobby: rob has left"])
    }

    @Test("room goes to another room and shows it")
    func rooms() throws {
        let bench = HubBench.rooms()
        let (ann, late) = (try PipedLines(on: bench), try PipedLines(on: bench))
        #expect(try ann.ask("room A:B") == ["# room A:B, no users"])
        _ = try ann.ask("iam:ann")
        _ = try ann.ask("msg:one")
        #expect(try late.ask("room A:B") == ["# room A:B, users: ann", "# A:B <ann> one"])
        #expect(try ann.ask("room lobby") == ["# room lobby, no users"])
        #expect(try late.take() == ["# A:B: ann has left"])
        #expect(try ann.ask("msg:two") == ["# a message needs a user; take a name first"])
    }

    @Test("json: the messages of /v1/room; a message of a WebSocket reaches both forms")
    func json() throws {
        let bench = HubBench.rooms()
        let (plain, json, socket) = (try PipedLines(on: bench), try PipedLines(on: bench), try bench.roomClient())
        #expect(try json.ask("room lobby json").map { $0.has(#"{"type":"room","room":"lobby","#) } == [true])
        _ = try plain.ask("room lobby")
        _ = try socket.takeTexts()
        try socket.send(#"{"message":"a\"b 👩‍💻","user":"ann"}"#)
        #expect(try plain.take() == ["# lobby: ann has joined", #"# lobby <ann> a"b 👩💻"#])
        let lines = try json.take()
        #expect(lines.count == 2 && lines[1].has(#"{"type":"message","id":1,"time":"#, #""userId":1,"message":"a\"b"#))
        #expect(!lines.joined().contains("source"))
    }

    @Test(
        "what the room does not take is answered by a line",
        arguments: [
            ("msg:hi", "# a message needs a user; take a name first"), ("msg:", "# a message is empty"),
            ("iam:", "# a user's name is empty"), ("iam:ANN", "# another user of the room has the name ANN"),
            ("iam:\(String(repeating: "x", count: 41))", "# a user's name has at most 40 bytes"),
            ("room \(String(repeating: "x", count: 65))", "# a room's name is longer than 64 bytes"),
        ]
    )
    func faults(line: String, answer: String) throws {
        let bench = HubBench.rooms()
        let (ann, other) = (try PipedLines(on: bench), try PipedLines(on: bench))
        _ = try ann.ask("iam:ann")
        #expect(try other.ask(line) == [answer])
        #expect(try ann.take() == [])
    }

    @Test("a refused submission enters no room, and a refused move leaves the client in its room and in its form")
    func refusals() throws {
        let bench = HubBench.rooms()
        let members = try (0..<RoomLimits.members).map { _ in try bench.roomClient("full") }
        let (ann, other) = (try PipedLines(on: bench), try PipedLines(on: bench))
        _ = try ann.ask("room A:B")
        _ = try ann.ask("iam:ann")
        #expect(try ann.ask("room full json") == ["# the room has 256 members already"])
        #expect(try ann.ask("msg:hi") == ["# A:B <ann> hi"])
        #expect(try ann.ask("room \u{2800} json") == ["# a room's name has a blank that is no space"])
        _ = try other.ask("room A:B")
        #expect(try other.ask("iam:ANN") == ["# another user of the room has the name ANN"])
        // It is not in the lobby.
        let stranger = try PipedLines(on: bench)
        #expect(try stranger.ask("msg:hi") == ["# a message needs a user; take a name first"])
        let socket = try bench.roomClient()
        #expect(try socket.ask(#"{"user":"ann"}"#).count == 2)
        #expect(try stranger.take() == [])
        #expect(members.count == RoomLimits.members)
    }

    @Test("a client goes to another room even if its own place is the only one for it")
    func lastPlace() throws {
        let bench = HubBench.rooms()
        let ann = try PipedLines(on: bench)
        _ = try ann.ask("iam:ann")
        let others = try (1..<RoomLimits.rooms).map { try bench.roomClient("r\($0)") }
        #expect(try ann.ask("room new") == ["# room new, no users"])
        // Another member keeps the room.
        let socket = try bench.roomClient("new")
        #expect(try ann.ask("room newer") == ["# there are too many rooms"])
        #expect(try ann.ask("iam:ann") == ["# new: ann has joined"])
        #expect(try socket.takeTimeless().count == 2 && others.count == RoomLimits.rooms - 1)
    }

    @Test("beyond the rate a message is not sent")
    func rate() throws {
        let client = try PipedLines(on: .rooms())
        _ = try client.ask("iam:ann")
        for number in 1...4 { #expect(try client.ask("msg:\(number)") == ["# lobby <ann> \(number)"]) }
        #expect(try client.ask("msg:5") == ["# too fast: 5 messages at once, then 1 a second"])
    }

    @Test("help names the commands where there are rooms; elsewhere they are errors")
    func off() throws {
        let help = (LineCommand.manual + LineCommand.roomManual).map { "# \($0)" }
        #expect(try PipedLines(on: .rooms()).ask("help") == help)
        let client = try PipedLines(on: .lines())
        #expect(try client.ask("help") == LineCommand.manual.map { "# \($0)" })
        for line in ["iam:ann", "msg:hi", "room lobby", "room lobby json", "iam:ann"] {
            #expect(try client.ask(line) == ["# there are no rooms here (relay.rooms)"])
        }
    }

    @Test("another form named with a room begins with all that the client follows, as after prices or trades")
    func otherForm() throws {
        let bench = HubBench.rooms()
        bench.play(Frames.trade("A", "1"))
        let client = try PipedLines(on: bench)
        _ = try client.ask("prices A")
        let lines = try client.ask("room lobby json")
        try #require(lines.count == 3, "\(lines)")
        for (line, type) in zip(lines, ["status", "room", "snapshot"]) {
            #expect(line.hasPrefix(#"{"type":"\#(type)","#), "\(line)")
        }
        #expect(try client.ask("room lobby json").count == 1, "nothing new in the same form")
        let plain = try client.ask("room lobby plain")
        #expect(plain.count == 2 && plain[0] == "# room lobby, no users" && plain[1].hasPrefix("A 1 "))
    }

    @Test("a room costs as much as its bytes", arguments: ["plain", "json"])
    func cost(form: String) throws {
        let bench = HubBench.rooms {
            $0.requestBurst = 20
            $0.requestsPerSecond = 1
        }
        bench.fillLobby()
        let client = try PipedLines(on: bench)
        #expect(try client.ask("room empty \(form)").count == 1)
        #expect(try client.ask("help").isEmpty == false)
        bench.loop.advanceTime(by: .seconds(20))
        #expect(try client.ask("room lobby").count == (form == "json" ? 1 : 201))
        #expect(try client.ask("room empty").last?.contains("too many commands; slow down") == true)
    }

    @Test("a client of a room that does not read is told that it missed messages, and is closed")
    func slow() throws {
        let bench = HubBench.rooms { $0.maximumWaitingBytes = 4_096 }
        let slow = try PipedLines(on: bench)
        _ = try slow.ask("room lobby")
        slow.stopReading(fillsChannel: true)
        let writer = try bench.roomClient()
        let text = String(repeating: "x", count: 900)
        for _ in 0..<10 {
            bench.loop.advanceTime(by: .seconds(1))
            _ = try writer.ask(#"{"message":"\#(text)","user":"ann"}"#)
        }
        slow.goOnReading()
        #expect(try slow.take().last == "# too slow: messages of the room missed")
    }

    @Test("a change of the form by room counts for trades, too")
    func form() throws {
        let bench = HubBench.rooms()
        let client = try PipedLines(on: bench)
        _ = try client.ask("trades A")
        _ = try client.ask("room lobby json")
        bench.play(Frames.trade("A", "1"))
        #expect(try client.take().map { $0.hasPrefix(#"{"type":"trade","#) } == [true])
    }
}
