/// A message of a room, as everybody in it gets it and as it is kept over a restart.
package struct RoomMessage: Sendable, Equatable {
    /// The most messages of one room that are kept, and the most rooms.
    package static let keptMessages = 200
    package static let keptRooms = 256

    /// The name of the room.
    package var room: String
    /// The number of the message in its room.
    package var id: UInt64
    /// When the relay took it, ns since 1970.
    package var time: Int64
    /// The name of the user who sent it, and the user's number in that run of the relay.
    package var user: String
    package var userID: UInt64
    package var text: String

    package init(room: String, id: UInt64, time: Int64, user: String, userID: UInt64, text: String) {
        self.room = room
        self.id = id
        self.time = time
        self.user = user
        self.userID = userID
        self.text = text
    }
}
