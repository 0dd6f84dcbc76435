import NIOCore
import Wire

/// The table of all rooms of a relay, with the only copy of their rules. A value without output and without a clock.
struct Rooms {
    private var rooms: [String: Room] = [:]
    private var roomsOfMember: [Room.Member: Set<String>] = [:]
    private var lastUserID: UInt64 = 0
    /// How often rooms were entered or left.
    private var uses: UInt64 = 0
    /// The names of the rooms that were given up since the last ``takeGivenUp()``.
    private var givenUp: [String] = []

    var count: Int { self.rooms.count }

    func state(of name: String) -> RoomState { self.rooms[name]?.state ?? RoomState(name: name) }

    /// Returns the state as JSON.
    mutating func encodedState(of name: String) -> ByteBuffer {
        self.rooms[name]?.encodedState() ?? RoomState(name: name).object
    }

    /// Returns about how many bytes the encoded state has.
    func size(of name: String) -> Int { self.rooms[name]?.size ?? 0 }

    mutating func takeGivenUp() -> [String] {
        defer { self.givenUp = [] }
        return self.givenUp
    }

    func members(of name: String) -> Set<Room.Member> { self.rooms[name]?.members ?? [] }

    func rooms(of member: Room.Member) -> Set<String> { self.roomsOfMember[member] ?? [] }

    /// Adds a member to a room, which need not exist. A repeated call changes nothing.
    mutating func enter(_ member: Room.Member, _ name: String) throws(RoomFault) {
        let own = self.rooms(of: member)
        guard !own.contains(name) else { return }
        guard own.count < RoomLimits.roomsOfMember else { throw .tooManyRooms }
        guard self.members(of: name).count < RoomLimits.members else { throw .roomFull }
        guard self.makePlace(for: name) else { throw .tooManyRooms }
        self.uses += 1
        let use = self.uses
        self.rooms[name, default: Room(name: name, lastUse: use)].enter(member)
        self.rooms[name]?.lastUse = use
        self.roomsOfMember[member, default: []].insert(name)
    }

    /// Removes a member from a room; returns the user that it was. A room without members and messages vanishes.
    mutating func leave(_ member: Room.Member, _ name: String) -> RoomUser? {
        guard self.roomsOfMember[member]?.remove(name) != nil else { return nil }
        if self.roomsOfMember[member]?.isEmpty == true { self.roomsOfMember[member] = nil }
        self.uses += 1
        self.rooms[name]?.lastUse = self.uses
        let user = self.rooms[name]?.leave(member)
        if let room = self.rooms[name], room.members.isEmpty, room.messages.isEmpty { self.rooms[name] = nil }
        return user
    }

    /// Moves a member out of a room to another one; returns the user that it was before.
    ///
    /// - Throws: ``RoomFault``; nothing has changed then.
    mutating func move(
        _ member: Room.Member,
        from old: String?,
        to name: String
    ) throws(RoomFault) -> RoomUser? {
        guard old != name else { return nil }
        var rooms = self
        // The place that it leaves may be the only one for the new room.
        let user = old.flatMap { rooms.leave(member, $0) }
        try rooms.enter(member, name)
        self = rooms
        return user
    }

    /// Takes what a session submits to a room, which it enters with it; returns the events for all members of the room,
    /// in order.
    ///
    /// - Parameters:
    ///   - time: ns since 1970.
    ///   - now: the time of the room's rate.
    /// - Throws: ``RoomFault``; nothing has changed then, and no other room has been given up.
    mutating func submit(
        _ submission: RoomSubmission,
        by member: Room.Member,
        in name: String,
        time: Int64,
        now: NIODeadline
    ) throws(RoomFault) -> [RoomEvent] {
        guard self.rooms(of: member).contains(name) else {
            var rooms = self
            try rooms.enter(member, name)
            let events = try rooms.submit(submission, by: member, in: name, time: time, now: now)
            self = rooms
            return events
        }
        let userID = self.lastUserID + 1
        let events = try self.rooms[name]?.submit(submission, by: member, time: time, now: now, userID: userID) ?? []
        if events.contains(where: { if case .joined = $0 { true } else { false } }) { self.lastUserID = userID }
        return events
    }

    /// Takes in a message of an earlier run; those of a room come in order. Returns whether it can be one.
    mutating func remember(_ message: RoomMessage) -> Bool {
        do throws(RoomFault) {
            guard RoomName.isValid(message.room), RoomLimits.ids.contains(message.id),
                RoomLimits.ids.contains(message.userID)
            else { return false }
            _ = try RoomSubmission(message: message.text, user: message.user)
        } catch {
            return false
        }
        guard self.makePlace(for: message.room) else { return false }
        self.uses += 1
        let use = self.uses
        self.rooms[message.room, default: Room(name: message.room, lastUse: use)].remember(message)
        return true
    }

    /// Makes place for a room by giving up another one without members; returns whether there is place.
    private mutating func makePlace(for name: String) -> Bool {
        guard self.rooms[name] == nil, self.rooms.count >= RoomLimits.rooms else { return true }
        let unused = self.rooms.values.filter(\.members.isEmpty).min { $0.lastUse < $1.lastUse }
        guard let unused else { return false }
        self.rooms[unused.name] = nil
        self.givenUp.append(unused.name)
        return true
    }
}
