package import Wire

/// The rooms of earlier runs. Their messages come from a file, which may hold anything, so each one is checked.
package struct EarlierRooms: Sendable {
    let rooms: Rooms
    /// The number of messages that cannot be any, which are left out.
    package let leftOut: Int

    /// Checks the messages, those of a room in order. This takes its time, so it is not done on an event loop.
    package init(_ messages: [RoomMessage]) {
        var rooms = Rooms()
        self.leftOut = messages.count { !rooms.remember($0) }
        self.rooms = rooms
    }
}
