import NIOCore
import Testing
import Wire
@testable import Relay

@Suite("Rooms: the table of rooms")
struct RoomsTests {
    private final class Session {}

    private static let now: Int64 = 1_723_161_255_342_000_000
    private let sessions = (0..<300).map { _ in Session() }

    private func member(_ number: Int) -> Room.Member { ObjectIdentifier(self.sessions[number]) }

    private func objects(_ events: [RoomEvent]) -> [String] { events.map { String(buffer: $0.object) } }

    /// Fills all places with rooms of one member each, who has sent a message.
    private func fill(_ rooms: inout Rooms) throws {
        for number in 0..<RoomLimits.rooms {
            let submission = try RoomSubmission(message: "hi", user: "u")
            _ = try rooms.submit(submission, by: self.member(number), in: "r\(number)", time: Self.now)
        }
    }

    @Test("a message has the room's next number, its user and its time; a user has a number of the relay")
    func messages() throws {
        var rooms = Rooms()
        for (number, room) in [(0, "lobby"), (1, "lobby"), (1, "A:B")] { try rooms.enter(self.member(number), room) }
        let submission = try RoomSubmission(message: "hi", user: "ann")
        let first = try rooms.submit(submission, by: self.member(0), in: "lobby", time: Self.now)
        #expect(
            self.objects(first) == [
                #"{"type":"joined","time":1723161255342,"user":"ann","userId":1}"#,
                #"{"type":"message","id":1,"time":1723161255342,"user":"ann","userId":1,"message":"hi"}"#,
            ]
        )
        let second = try rooms.submit(submission, by: self.member(0), in: "lobby", time: Self.now)
        #expect(
            self.objects(second) == [
                #"{"type":"message","id":2,"time":1723161255342,"user":"ann","userId":1,"message":"hi"}"#
            ]
        )
        // A name is unique in its room only.
        let other = try rooms.submit(submission, by: self.member(1), in: "A:B", time: Self.now)
        #expect(
            self.objects(other) == [
                #"{"type":"joined","time":1723161255342,"user":"ann","userId":2}"#,
                #"{"type":"message","id":1,"time":1723161255342,"user":"ann","userId":2,"message":"hi"}"#,
            ]
        )
        let state = rooms.state(of: "lobby")
        #expect(state.users == [RoomUser(name: "ann", id: 1)] && state.messages.map(\.id) == [1, 2])
    }

    @Test("a name is taken whatever its case, until its user takes another one or leaves")
    func names() throws {
        var rooms = Rooms()
        for number in 0..<2 { try rooms.enter(self.member(number), "r") }
        func submit(_ number: Int, _ name: String) throws -> [RoomEvent] {
            try rooms.submit(RoomSubmission(user: name), by: self.member(number), in: "r", time: Self.now)
        }
        _ = try submit(0, "Ann")
        #expect(throws: RoomFault.userTaken("ANN")) { try submit(1, "ANN") }
        #expect(try submit(0, "Ann") == [])
        let renamed = try submit(0, "ann")
        #expect(
            renamed == [
                .left(RoomUser(name: "Ann", id: 1), time: Self.now),
                .joined(RoomUser(name: "ann", id: 2), time: Self.now),
            ]
        )
        #expect(throws: RoomFault.userTaken("aNN")) { try submit(1, "aNN") }
        _ = try submit(0, "bob")
        #expect(try submit(1, "ANN") == [.joined(RoomUser(name: "ANN", id: 4), time: Self.now)])
        #expect(rooms.leave(self.member(1), "r") == RoomUser(name: "ANN", id: 4))
        #expect(rooms.leave(self.member(1), "r") == nil)
        try rooms.enter(self.member(1), "r")
        #expect(try submit(1, "ann") == [.joined(RoomUser(name: "ann", id: 5), time: Self.now)])
        #expect(rooms.state(of: "r").users.map(\.name) == ["bob", "ann"])
    }

    @Test("a member without a name sends no message and is no user, and one that is not in the room does nothing")
    func listeners() throws {
        var rooms = Rooms()
        try rooms.enter(self.member(0), "r")
        for number in 0..<2 {
            #expect(throws: RoomFault.noUser) {
                try rooms.submit(RoomSubmission(message: "hi"), by: self.member(number), in: "r", time: Self.now)
            }
        }
        #expect(rooms.state(of: "r") == RoomState(name: "r") && rooms.members(of: "r").count == 1)
        #expect(rooms.leave(self.member(0), "r") == nil && rooms.count == 0)
    }

    @Test("the newest 200 messages are kept, also without members")
    func kept() throws {
        var rooms = Rooms()
        try rooms.enter(self.member(0), "r")
        for number in 1...450 {
            let submission = try RoomSubmission(message: "\(number)", user: "ann")
            _ = try rooms.submit(submission, by: self.member(0), in: "r", time: Self.now, atSecond: Int64(number))
        }
        _ = rooms.leave(self.member(0), "r")
        #expect(rooms.state(of: "r").messages.map(\.id) == Array(251...450))
    }

    @Test("a room takes 256 members, and a session is in 16 rooms at most")
    func members() throws {
        var rooms = Rooms()
        for number in 0..<RoomLimits.members { try rooms.enter(self.member(number), "r") }
        #expect(throws: RoomFault.roomFull) { try rooms.enter(self.member(299), "r") }
        try rooms.enter(self.member(0), "r")
        for number in 1..<RoomLimits.roomsOfMember { try rooms.enter(self.member(0), "r\(number)") }
        #expect(throws: RoomFault.tooManyRooms) { try rooms.enter(self.member(0), "more") }
        _ = rooms.leave(self.member(0), "r")
        try rooms.enter(self.member(0), "more")
        try rooms.enter(self.member(299), "r")
    }

    @Test("beyond 256 rooms the one without members that was used the longest ago is given up; the others stay")
    func places() throws {
        var rooms = Rooms()
        try self.fill(&rooms)
        // The first one stays in its room.
        for number in 1..<RoomLimits.rooms { _ = rooms.leave(self.member(number), "r\(number)") }
        try rooms.enter(self.member(299), "new")
        #expect(rooms.count == RoomLimits.rooms)
        #expect(rooms.state(of: "r1").messages.isEmpty)
        #expect(rooms.state(of: "r0").messages.count == 1 && rooms.state(of: "r2").messages.count == 1)
        let names = (rooms.takeGivenUp(), rooms.takeGivenUp())
        #expect(names == (["r1"], []))
    }

    @Test("if all rooms have members, there is no further one")
    func occupied() throws {
        var rooms = Rooms()
        for number in 0..<RoomLimits.rooms {
            try rooms.enter(self.member(number / RoomLimits.roomsOfMember), "r\(number)")
        }
        #expect(throws: RoomFault.tooManyRooms) { try rooms.enter(self.member(299), "new") }
        try rooms.enter(self.member(299), "r7")
    }

    @Test("a submission enters its room, unless it is refused; then no other room is given up for it either")
    func refused() throws {
        var rooms = Rooms()
        try self.fill(&rooms)
        _ = rooms.leave(self.member(0), "r0")
        let late = self.member(299)
        #expect(throws: RoomFault.noUser) {
            try rooms.submit(RoomSubmission(message: "hi"), by: late, in: "new", time: Self.now)
        }
        #expect(throws: RoomFault.userTaken("U")) {
            try rooms.submit(RoomSubmission(message: "hi", user: "U"), by: late, in: "r1", time: Self.now)
        }
        #expect(rooms.rooms(of: late).isEmpty && rooms.members(of: "r1").count == 1)
        #expect(rooms.state(of: "r0").messages.count == 1)
        #expect(rooms.takeGivenUp() == [])
        _ = try rooms.submit(RoomSubmission(message: "hi", user: "v"), by: late, in: "new", time: Self.now)
        #expect(rooms.rooms(of: late) == ["new"] && rooms.state(of: "r0").messages.isEmpty)
    }

    @Test("a member moves even if the place that it leaves is the only one; a refused move leaves it where it was")
    func moves() throws {
        var rooms = Rooms()
        try self.fill(&rooms)
        #expect(try rooms.move(self.member(7), from: "r7", to: "new")?.name == "u")
        #expect(rooms.rooms(of: self.member(7)) == ["new"] && rooms.count == RoomLimits.rooms)
        #expect(rooms.state(of: "r7").messages.isEmpty)
        #expect(try rooms.move(self.member(7), from: "new", to: "new") == nil)
        // Another member keeps the room of the one that moves.
        try rooms.enter(self.member(299), "r8")
        #expect(throws: RoomFault.tooManyRooms) { try rooms.move(self.member(8), from: "r8", to: "more") }
        #expect(rooms.rooms(of: self.member(8)) == ["r8"] && rooms.state(of: "r8").users.map(\.name) == ["u"])
    }

    @Test("a room takes 256 messages at once and then 20 a second, even of members that come again")
    func rate() throws {
        var rooms = Rooms()
        for number in 0..<RoomLimits.members {
            try rooms.enter(self.member(number), "r")
            let submission = try RoomSubmission(message: "hi", user: "u\(number)")
            _ = try rooms.submit(submission, by: self.member(number), in: "r", time: Self.now)
        }
        let more = try RoomSubmission(message: "hi", user: "u0")
        for _ in 0..<3 {
            #expect(throws: RoomFault.roomTooFast) {
                try rooms.submit(more, by: self.member(0), in: "r", time: Self.now)
            }
            _ = rooms.leave(self.member(0), "r")
            try rooms.enter(self.member(0), "r")
        }
        for number in 1...21 {
            func submit() throws {
                _ = try rooms.submit(more, by: self.member(0), in: "r", time: Self.now, atSecond: 1)
            }
            if number < 21 { try submit() } else { #expect(throws: RoomFault.roomTooFast) { try submit() } }
        }
        // Another room has its own rate, and a name that the member has already costs nothing.
        _ = try rooms.submit(more, by: self.member(0), in: "s", time: Self.now, atSecond: 1)
        #expect(try rooms.submit(RoomSubmission(user: "u0"), by: self.member(0), in: "r", time: Self.now) == [])
    }

    @Test("the state is encoded once until it changes, and not kept for a room without members")
    func encoded() throws {
        var rooms = Rooms()
        func place() -> Int { rooms.encodedState(of: "r").withUnsafeReadableBytes { Int(bitPattern: $0.baseAddress) } }
        func encodes(_ change: () throws -> Void) throws -> Bool {
            let before = rooms.encodedState(of: "r")
            try change()
            let isAnew = before.withUnsafeReadableBytes { Int(bitPattern: $0.baseAddress) } != place()
            #expect(rooms.encodedState(of: "r") == rooms.state(of: "r").object)
            return isAnew
        }
        let submission = try RoomSubmission(message: "hi", user: "ann")
        try rooms.enter(self.member(0), "r")
        #expect(try encodes { _ = try rooms.submit(submission, by: self.member(0), in: "r", time: Self.now) })
        #expect(try !encodes {})
        #expect(try !encodes { try rooms.enter(self.member(1), "r") })
        #expect(try encodes { _ = rooms.leave(self.member(0), "r") })
        _ = rooms.leave(self.member(1), "r")
        #expect(try encodes {})
    }

    @Test("names of rooms that differ in composition are one")
    func composition() throws {
        var rooms = Rooms()
        try rooms.enter(self.member(0), "caf\u{E9}")
        try rooms.enter(self.member(1), "cafe\u{301}")
        let submission = try RoomSubmission(message: "hi", user: "ann")
        let events = try rooms.submit(submission, by: self.member(1), in: "cafe\u{301}", time: Self.now)
        guard case .message(let message) = events[1] else { throw RoomFault.invalidMessage }
        #expect(rooms.count == 1 && message.room.unicodeScalars.elementsEqual("caf\u{E9}".unicodeScalars))
    }

    @Test("messages of earlier runs come first, and the numbers go on; what cannot be a message is left out")
    func earlier() throws {
        var rooms = Rooms()
        let spoilt = [
            RoomMessage(5, "hi", room: ""), RoomMessage(0, "hi"), RoomMessage(1 << 53, "hi"), RoomMessage(5, ""),
            RoomMessage(5, "a\u{1B}"), RoomMessage(5, "hi", user: ""), RoomMessage(5, "hi", user: "a\nb"),
            RoomMessage(5, "hi", userID: 0), RoomMessage(5, String(repeating: "x", count: 1_001)),
        ]
        for message in spoilt {
            let isTaken = rooms.remember(message)
            #expect(!isTaken, "\(message)")
        }
        #expect(rooms.count == 0)
        for id in [7, 8, 8, 3, 9] as [UInt64] {
            let isTaken = rooms.remember(RoomMessage(id, "hi", room: "r"))
            #expect(isTaken)
        }
        #expect(rooms.state(of: "r").messages.map(\.id) == [7, 8, 9])
        try rooms.enter(self.member(0), "r")
        let events = try rooms.submit(
            RoomSubmission(message: "on", user: "ann"),
            by: self.member(0),
            in: "r",
            time: Self.now
        )
        #expect(events.last.map { String(buffer: $0.object) }?.contains(#""id":10,"#) == true)
    }
}

extension Rooms {
    /// Submits at a second of the rooms' rates.
    fileprivate mutating func submit(
        _ submission: RoomSubmission,
        by member: Room.Member,
        in name: String,
        time: Int64,
        atSecond second: Int64 = 0
    ) throws(RoomFault) -> [RoomEvent] {
        let now = NIODeadline.uptimeNanoseconds(1) + .seconds(second)
        return try self.submit(submission, by: member, in: name, time: time, now: now)
    }
}
