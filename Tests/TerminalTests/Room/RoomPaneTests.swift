import Market
import Testing
import TickertapeTesting
import Wire
@testable import Terminal

@Suite("The pane of a room")
struct RoomPaneTests {
    /// The rooms of a program, which do nothing.
    private struct NoRooms: ScreenRooms {
        func enter(_ name: String, changed: @escaping @Sendable (DisplayRoom) -> Void) {}
        func submit(_ request: RoomRequest, number: Int) {}
        func leave() {}
    }

    private static func person() -> PersonAtScreen {
        PersonAtScreen(
            remote: .sample {
                $0.rooms = .can(NoRooms())
                $0.replay = .cannot("this is not a replay")
            }
        )
    }

    private static let ann = RoomUser(name: "ann", id: 1)

    private static func screen(_ person: PersonAtScreen, _ columns: Int, _ rows: Int = 24) -> [String] {
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        let grid = DisplayView.frame(of: person.shown, choice: person.choice, size: size, now: sampleNoon).grid
        return (0..<rows).map(grid.line)
    }

    // MARK: Keys

    @Test("m opens the room of the selected symbol and closes it, and so does all that closes a pane")
    func opens() {
        var person = Self.person()
        #expect(person.presses("j", "m") == [.enterRoom("X:B")])
        #expect(person.said == "Enter writes to the room of X:B")
        #expect(person.presses("m") == [.leaveRoom])
        #expect(person.presses("m") == [.enterRoom("X:B")])
        #expect(person.presses(.named(.escape)) == [.leaveRoom])
        #expect(person.presses("m", "e") == [.enterRoom("X:B"), .leaveRoom])
        #expect(person.choice.pane == .list(.events, at: 0))
        #expect(person.presses("m") == [.enterRoom("X:B")])
        #expect(person.presses("-") == [.unsubscribe("X:B"), .leaveRoom])
        #expect(person.choice.pane == nil)
        var without = PersonAtScreen()
        #expect(without.presses("m") == [] && without.choice.pane == nil)
    }

    @Test("Enter asks for a name first, then for messages; each line is sent once and is empty for the next one")
    func writes() {
        var person = Self.person()
        person.presses("m")
        #expect(person.presses(.named(.enter)) == [] && person.said == "the room is not connected")
        var room = DisplayRoom.sample()
        person.receives(.room(room))
        #expect(Self.screen(person, 100).contains("no message yet"))
        person.presses(.named(.enter))
        #expect(person.prompt?.title == "your name" && person.prompt?.room == "X:A")
        person.types("ann")
        #expect(person.presses(.named(.enter), .named(.enter)) == [.submit(.name("ann"), number: 1)])
        _ = room.submitted(.name("ann"), number: 1)
        person.receives(.room(room))
        #expect(person.prompt?.title == "your name" && person.prompt?.message == "asking for the name ann")
        // A fast typist begins the message before the relay answers.
        person.types("hi")
        _ = room.take(.joined(Self.ann, time: sampleNoon.wall))
        person.receives(.room(room))
        #expect(person.prompt?.title == "message" && person.prompt?.text == "hi")
        person.types(" qq")
        #expect(person.presses(.named(.enter)) == [.submit(.message("hi qq"), number: 2)])
        #expect(person.prompt?.text == "" && !Self.screen(person, 100).contains { $0.contains("hi qq") })
        _ = room.submitted(.message("hi qq"), number: 2)
        _ = room.take(.message(sampleMessage(1, "hi qq")))
        person.receives(.room(room))
        #expect(Self.screen(person, 100).contains { $0.contains("<ann> hi qq") })
        #expect(person.presses(.named(.enter)) == [])
        person.types("next")
        #expect(person.presses(.named(.escape)) == [])
        #expect(person.choice.pane == .list(.room("X:A"), at: 0))
        person.presses(.named(.enter))
        #expect(person.prompt?.title == "message")
        // The next room has no name yet, and is asked for the same one.
        #expect(person.presses(.named(.escape), "m", "j", "m") == [.leaveRoom, .enterRoom("X:B")])
        var next = DisplayRoom(name: "X:B")
        _ = next.take(.room(users: [], messages: []))
        person.receives(.room(next))
        person.presses(.named(.enter))
        #expect(person.prompt?.title == "your name" && person.prompt?.text == "ann")
    }

    @Test("a refused message returns to its line, before what is typed meanwhile, and the reason is in the pane")
    func refused() {
        var person = Self.person()
        person.presses("m")
        var room = DisplayRoom.sample()
        _ = room.submitted(.name("ann"), number: 0)
        _ = room.take(.joined(Self.ann, time: sampleNoon.wall))
        person.receives(.room(room))
        for typed in ["", "more"] {
            person.presses(.named(.enter))
            person.types("much")
            person.presses(.named(.enter))
            person.types(typed)
            _ = room.submitted(.message("much"), number: person.controller.submissions)
            _ = room.take(.error("too fast: 5 messages at once", code: "too-fast"))
            person.receives(.room(room))
            #expect(person.prompt?.text == (typed.isEmpty ? "much" : "much more"))
            #expect(Self.screen(person, 100).contains("too fast: 5 messages at once"))
            person.presses(.named(.escape))
        }
    }

    @Test("a refused name returns to its line")
    func refusedName() {
        var person = Self.person()
        person.presses("m")
        var room = DisplayRoom.sample()
        person.receives(.room(room))
        person.presses(.named(.enter))
        person.types("ann")
        person.presses(.named(.enter))
        _ = room.submitted(.name("ann"), number: person.controller.submissions)
        _ = room.take(.error("taken", code: "user-taken"))
        person.receives(.room(room))
        #expect(person.prompt?.title == "your name" && person.prompt?.text == "ann")
    }

    @Test("a late state of a room that was left changes nothing")
    func late() {
        var person = Self.person()
        person.presses("m", "m", "j", "m")
        person.receives(.room(DisplayRoom.sample(.message(sampleMessage(1, "old news")))))
        #expect(person.shown.room == nil)
        #expect(Self.screen(person, 100).contains("connecting to the room"))
    }

    @Test("the newest message is at the bottom; up and Home go back to the oldest, down and End return")
    func scrolls() {
        var person = Self.person()
        person.presses("m")
        let messages = (1...59).map { sampleMessage(UInt64($0), "number \($0)!") }
        var room = DisplayRoom(name: "X:A")
        _ = room.take(.room(users: [], messages: messages))
        person.receives(.room(room))
        func bottom() -> String? { Self.screen(person, 100).last { $0.contains("number") } }
        #expect(bottom()?.hasSuffix(" <ann> number 59!") == true, "\(bottom() ?? "")")
        #expect(Self.screen(person, 100).contains { $0.contains("ROOM X:A (UTC), 0 users") && $0.contains("more") })
        person.presses("k", "k")
        #expect(bottom()?.hasSuffix("number 57!") == true)
        // New messages do not move what is read.
        for id in 60...61 { _ = room.take(.message(sampleMessage(UInt64(id), "number \(id)!"))) }
        person.receives(.room(room))
        #expect(bottom()?.hasSuffix("number 57!") == true)
        person.presses(.named(.home))
        #expect(bottom()?.hasSuffix("number 1!") == true)
        for id in 62...400 { _ = room.take(.message(sampleMessage(UInt64(id), "number \(id)!"))) }
        person.receives(.room(room))
        // The oldest that is kept.
        #expect(bottom()?.hasSuffix("number 201!") == true)
        person.presses(.named(.end))
        #expect(bottom()?.hasSuffix("number 400!") == true)
        _ = room.take(.message(sampleMessage(401, "number 401!")))
        person.receives(.room(room))
        #expect(bottom()?.hasSuffix("number 401!") == true)
    }

    // MARK: The picture

    private static var talk: PersonAtScreen {
        var person = Self.person()
        person.presses("m")
        person.controller.notice = nil
        let long = "a long message that has to be wrapped on a narrow screen, and has a 株式 in it; "
        var room = DisplayRoom(name: "X:A")
        let users = [Self.ann, RoomUser(name: "Bärbel 株", id: 2), RoomUser(name: "carl", id: 3)]
        _ = room.take(
            .room(
                users: users,
                messages: [
                    sampleMessage(1, "yesterday's").at(sampleNoon.wall - 86_400 * oneSecond),
                    sampleMessage(2, String(repeating: long, count: 2), from: "Bärbel 株", 2), sampleMessage(3, "ok"),
                ]
            )
        )
        _ = room.take(.left(RoomUser(name: "carl", id: 3), time: sampleNoon.wall))
        person.receives(.room(room))
        return person
    }

    @Test("messages, users and the line being typed at four sizes")
    func snapshots() throws {
        var person = Self.talk
        person.presses(.named(.enter))
        person.types("carl")
        let sizes = [(40, 10), (40, 24), (100, 24), (200, 40)]
        let screens = sizes.map { (columns, rows) in
            (["== \(columns)x\(rows)"] + Self.screen(person, columns, rows).map { "|" + $0 }).joined(separator: "\n")
        }
        try SnapshotFile.check("pane-room", screens.joined(separator: "\n"))
    }

    @Test("without a connection the pane says why, in words, and keeps what was said", arguments: [40, 100, 200])
    func lost(columns: Int) {
        var person = Self.talk
        var room = person.controller.room ?? DisplayRoom(name: "X:A")
        let reason = "the relay has no rooms: relay.rooms: true in its settings turns them on"
        room.lost(reason)
        person.receives(.room(room))
        let lines = Self.screen(person, columns)
        let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(words.contains("no room, trying again: \(reason)"), "\(words)")
        #expect(words.contains("<ann> ok") && !words.contains("2 users"))
    }

    @Test("hostile texts stay in their lines at every size", arguments: [1, 3, 12, 20, 40, 100, 200])
    func hostile(columns: Int) {
        for glyphs in [ScreenGlyphs.unicode, .ascii] {
            var person = Self.person()
            person.presses("m")
            var room = DisplayRoom(name: "X:A")
            let users = awkwardTexts.enumerated().map { RoomUser(name: $1, id: UInt64($0)) }
            _ = room.take(.room(users: users, messages: awkwardTexts.map { sampleMessage(1, $0, from: $0) }))
            _ = room.take(.error(awkwardTexts[15], code: "x"))
            person.receives(.room(room))
            for keys in [[], [TerminalKey.named(.enter)]] {
                for key in keys { person.presses(key) }
                for rows in [1, 2, 4, 10, 24, 60] {
                    let size = ScreenGrid.Size(columns: columns, rows: rows)
                    let look = DisplayLook(glyphs: glyphs)
                    let grid = DisplayView.frame(
                        of: person.shown,
                        choice: person.choice,
                        size: size,
                        now: sampleNoon,
                        look: look
                    ).grid
                    let text = (0..<rows).map(grid.line).joined()
                    #expect(!text.unicodeScalars.contains { $0.properties.isControl || $0 == "\u{202E}" })
                }
            }
        }
    }
}

extension RoomMessage {
    fileprivate func at(_ time: Int64) -> RoomMessage {
        var message = self
        message.time = time
        return message
    }
}
