import NIOCore
import Wire

/// A room: its members, the users among them, and its newest messages. A value without output.
///
/// A member without a name gets the events and is no user.
struct Room {
    /// The identity of a member's session.
    typealias Member = ObjectIdentifier

    let name: String
    /// When it was entered or left the last time, counted over all rooms.
    var lastUse: UInt64
    private(set) var members: Set<Member> = []
    private(set) var messages: [RoomMessage] = []
    private var users: [Member: RoomUser] = [:]
    /// The members that have the names, by ``RoomUserName/key``.
    private var owners: [String: Member] = [:]
    private var lastID: UInt64 = 0
    /// The rate of what its members submit. A client that connects again does not renew it.
    private var rate = RequestAllowance.ofRoom
    /// The state as JSON, until it changes.
    private var encoded: ByteBuffer?

    init(name: String, lastUse: UInt64) {
        self.name = name
        self.lastUse = lastUse
    }

    var state: RoomState {
        RoomState(name: self.name, users: self.users.values.sorted { $0.id < $1.id }, messages: self.messages)
    }

    /// Returns the state as JSON. It is encoded once for all members that ask.
    mutating func encodedState() -> ByteBuffer {
        if let encoded { return encoded }
        let object = self.state.object
        // Nothing asks often for an empty room.
        if !self.members.isEmpty { self.encoded = object }
        return object
    }

    /// About how many bytes the encoded state has.
    var size: Int {
        self.messages.reduce(self.users.count * Self.elementSize) { $0 + Self.elementSize + $1.text.utf8.count }
    }

    /// About how many bytes a user has, and a message beside its text.
    private static let elementSize = 100

    mutating func enter(_ member: Member) { self.members.insert(member) }

    /// Removes a member; returns the user that it was.
    mutating func leave(_ member: Member) -> RoomUser? {
        self.members.remove(member)
        if self.members.isEmpty { self.encoded = nil }
        guard let user = self.users.removeValue(forKey: member) else { return nil }
        self.owners[RoomUserName.key(of: user.name)] = nil
        self.encoded = nil
        return user
    }

    /// Takes what a member submits; returns the events for all members. Another name makes the member another user.
    ///
    /// - Parameters:
    ///   - time: ns since 1970.
    ///   - now: the time of the room's rate.
    ///   - userID: the number of a user who joins.
    /// - Throws: ``RoomFault``; the room is unchanged then.
    mutating func submit(
        _ submission: RoomSubmission,
        by member: Member,
        time: Int64,
        now: NIODeadline,
        userID: UInt64
    ) throws(RoomFault) -> [RoomEvent] {
        let before = self.users[member]
        let name = submission.user.flatMap { $0.text == before?.name ? nil : $0 }
        if let name, let owner = self.owners[name.key], owner != member { throw .userTaken(name.text) }
        guard name != nil || before != nil else { throw .noUser }
        guard name != nil || submission.text != nil else { return [] }
        guard self.rate.isWithin(now: now) else { throw .roomTooFast }
        self.encoded = nil
        var events: [RoomEvent] = []
        if let name {
            if let before {
                self.owners[RoomUserName.key(of: before.name)] = nil
                events.append(.left(before, time: time))
            }
            let user = RoomUser(name: name.text, id: userID)
            self.users[member] = user
            self.owners[name.key] = member
            events.append(.joined(user, time: time))
        }
        guard let text = submission.text, let user = self.users[member] else { return events }
        let message = RoomMessage(
            room: self.name,
            id: self.lastID + 1,
            time: time,
            user: user.name,
            userID: user.id,
            text: text
        )
        self.append(message)
        events.append(.message(message))
        return events
    }

    /// Takes in a message of an earlier run, unless it is known or a later one is.
    mutating func remember(_ message: RoomMessage) {
        if message.id > self.lastID { self.append(message) }
    }

    private mutating func append(_ message: RoomMessage) {
        self.lastID = message.id
        self.messages.append(message)
        if self.messages.count > RoomLimits.messages { self.messages.removeFirst() }
    }
}
