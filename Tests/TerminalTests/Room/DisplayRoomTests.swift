import Testing
import TickertapeTesting
import Wire
@testable import Terminal

@Suite("The room as the screen knows it")
struct DisplayRoomTests {
    private static let ann = RoomUser(name: "ann", id: 1)
    private static let bob = RoomUser(name: "bob", id: 2)

    @Test("users come and go with a line each, and a message is shown when the relay sends it, not before")
    func presence() {
        var room = DisplayRoom(name: "X:A")
        #expect(room.link == .connecting)
        #expect(room.take(.room(users: [Self.bob], messages: [sampleMessage(1, "hi")])) == nil)
        #expect(room.link == .open && room.users == [Self.bob] && room.entries.map(\.text) == ["hi"])
        #expect(room.submitted(.name("ann"), number: 1) == true)
        #expect(room.own == nil && room.outcome == nil)
        _ = room.take(.joined(Self.ann, time: 5))
        #expect(room.own == Self.ann && room.outcome == .init(number: 1, isRefused: false))
        #expect(room.submitted(.message("me"), number: 2) == true)
        #expect(room.entries.count == 2)
        _ = room.take(.message(sampleMessage(2, "not me", from: "bob", 2)))
        #expect(room.outcome?.number == 1)
        _ = room.take(.message(sampleMessage(3, "me")))
        #expect(room.outcome == .init(number: 2, isRefused: false))
        _ = room.take(.left(Self.bob, time: 6))
        #expect(room.entries.map(\.text) == ["hi", "ann has joined", "not me", "me", "bob has left"])
        #expect(room.entries.map(\.user) == ["ann", nil, "bob", "ann", nil] && room.users == [Self.ann])
    }

    @Test("an objection of the relay is kept until the next submission, and settles the one that waits")
    func objections() {
        var room = DisplayRoom.sample(.joined(Self.ann, time: 1))
        #expect(room.submitted(.name("ann"), number: 1) == true)
        _ = room.take(.error("another user of the room has the name ann", code: "user-taken"))
        #expect(room.problem == "another user of the room has the name ann")
        #expect(room.outcome == .init(number: 1, isRefused: true) && room.own == nil)
        // The refused name is no longer waited for.
        _ = room.take(.left(Self.ann, time: 2))
        _ = room.take(.joined(RoomUser(name: "ann", id: 3), time: 3))
        #expect(room.own == nil)
        #expect(room.submitted(.name("carl"), number: 2) == true)
        #expect(room.problem == nil)
    }

    @Test("a user who takes the wanted name just before the request arrives is not taken for the person")
    func lostRace() {
        var room = DisplayRoom.sample()
        #expect(room.submitted(.name("ann"), number: 1) == true)
        _ = room.take(.joined(Self.ann, time: 1))
        _ = room.take(.error("taken", code: "user-taken"))
        #expect(room.own == nil && room.problem == "taken")
    }

    @Test("one request is under way at a time, so that an answer belongs to it; the next one is not sent")
    func oneAtATime() {
        var room = DisplayRoom.sample()
        _ = room.submitted(.name("ann"), number: 1)
        _ = room.take(.joined(Self.ann, time: 1))
        #expect(room.submitted(.message("a"), number: 2) == true)
        #expect(room.submitted(.message("b"), number: 3) == false)
        #expect(room.outcome == .init(number: 3, isRefused: true))
        #expect(room.problem == "not sent: the relay has not answered the line before yet")
        _ = room.take(.message(sampleMessage(1, "a")))
        // The screen may not have seen the outcome of the later one yet.
        #expect(room.outcome == .init(number: 3, isRefused: true) && room.problem == nil)
        #expect(room.submitted(.message("b"), number: 4) == true)
        _ = room.take(.error("too fast", code: "too-fast"))
        #expect(room.outcome == .init(number: 4, isRefused: true) && room.problem == "too fast")
        // The same name on a new connection is a request, too.
        room.lost("reset")
        #expect(room.take(.room(users: [], messages: [])) == .name("ann"))
        #expect(room.submitted(.name("carl"), number: 5) == false)
        _ = room.take(.error("taken", code: "user-taken"))
        #expect(room.own == nil && room.outcome?.number == 5 && room.problem == "taken")
        #expect(room.submitted(.name("carl"), number: 6) == true)
    }

    @Test("after a break the name is asked for again, and what waited for its outcome is reported as refused")
    func breaks() {
        var room = DisplayRoom.sample()
        #expect(room.submitted(.name("ann"), number: 1) == true)
        _ = room.take(.joined(Self.ann, time: 1))
        #expect(room.submitted(.message("hi"), number: 2) == true)
        room.lost("reset by peer")
        #expect(room.link == .lost("reset by peer") && room.users == [] && room.own == nil)
        #expect(room.outcome == .init(number: 2, isRefused: true) && room.problem != nil)
        #expect(room.submitted(.message("hi"), number: 3) == false)
        #expect(room.outcome == .init(number: 3, isRefused: true))
        #expect(room.take(.room(users: [], messages: [sampleMessage(1, "old")])) == .name("ann"))
        _ = room.take(.joined(RoomUser(name: "ann", id: 9), time: 2))
        #expect(room.own?.id == 9 && room.problem == "not sent: there is no connection to the room")
        #expect(room.entries.map(\.text) == ["old", "ann has joined"])
        room.lost("again")
        _ = room.take(.room(users: [], messages: []))
        _ = room.take(.error("the old connection has the name", code: "user-taken"))
        #expect(room.take(.room(users: [], messages: [])) == nil)
        #expect(room.own == nil)
    }

    @Test("whatever the relay sends, what is kept is bounded and printable")
    func bounds() {
        let long = String(repeating: "x\u{202E}\u{1B}", count: 10_000)
        let many = (0..<3_000).map { RoomUser(name: long, id: $0) }
        var room = DisplayRoom(name: "X:A")
        _ = room.take(.room(users: many, messages: (0..<300).map { sampleMessage($0, long, from: long) }))
        #expect(room.entries.count == 200 && room.users.count == DisplayRoom.mostUsers)
        for id in 0..<500 {
            _ = room.take(.joined(RoomUser(name: long, id: 5_000 + UInt64(id)), time: 0))
            _ = room.take(.message(sampleMessage(UInt64(id), "\(id)")))
        }
        _ = room.take(.error(long, code: long))
        #expect(room.entries.count == 200 && room.entries.last?.text == "499")
        #expect(room.users.count == DisplayRoom.mostUsers)
        let texts = room.entries.map(\.text) + room.entries.compactMap(\.user) + room.users.map(\.name)
        for text in texts + [room.problem ?? ""] {
            #expect(text.unicodeScalars.count <= 1_100 && !text.contains("\u{1B}") && !text.contains("\u{202E}"))
        }
    }
}
