import Wire

/// The limits of rooms, besides those of every client of the relay.
enum RoomLimits {
    /// The most rooms with members or messages. For one more, the room without members that was used the longest time
    /// ago is given up.
    static let rooms = RoomMessage.keptRooms
    /// The most members of a room.
    static let members = 256
    /// The most rooms that one session may be in.
    static let roomsOfMember = 16
    /// The most messages of a room that a later member still gets.
    static let messages = RoomMessage.keptMessages
    /// The longest message and the longest name of a user, bytes of UTF-8.
    static let messageBytes = 1_000
    static let userBytes = 40
    /// How many messages a session may send at once, and how many further ones per second. Taking a name counts as a
    /// message.
    static let burst = 5
    static let perSecond = 1
    /// How many messages a room takes at once from all its members, and how many further ones per second. After a
    /// restart all members may take their names at once.
    static let roomBurst = RoomLimits.members
    static let roomPerSecond = 20
    /// The numbers that a message may have. All clients can hold them exactly, and there is no end of further ones.
    static let ids: ClosedRange<UInt64> = 1...(1 << 52)
}

extension RequestAllowance {
    /// Makes the rate of one session's messages in all its rooms.
    static var ofRooms: RequestAllowance {
        RequestAllowance(burst: RoomLimits.burst, perSecond: RoomLimits.perSecond)
    }

    /// Makes the rate of all messages in one room.
    static var ofRoom: RequestAllowance {
        RequestAllowance(burst: RoomLimits.roomBurst, perSecond: RoomLimits.roomPerSecond)
    }
}
