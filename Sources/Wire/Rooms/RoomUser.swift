/// A user of a room.
package struct RoomUser: Sendable, Equatable {
    package var name: String
    /// The user's number, which no other user of the relay's run has.
    package var id: UInt64

    package init(name: String, id: UInt64) {
        self.name = name
        self.id = id
    }
}
