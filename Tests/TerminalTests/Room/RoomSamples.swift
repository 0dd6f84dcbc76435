import Market
import TickertapeTesting
import Wire
@testable import Terminal

/// Returns a message of the sample room, one a minute.
func sampleMessage(_ id: UInt64, _ text: String, from user: String = "ann", _ userID: UInt64 = 1) -> RoomMessage {
    let time = sampleNoon.wall - (60 - Int64(id)) * 60 * oneSecond
    return RoomMessage(room: "X:A", id: id, time: time, user: user, userID: userID, text: text)
}

extension DisplayRoom {
    /// Returns the sample room after these messages of the relay.
    static func sample(_ updates: RoomUpdate...) -> DisplayRoom {
        var room = DisplayRoom(name: "X:A")
        for update in [.room(users: [], messages: [])] + updates { _ = room.take(update) }
        return room
    }
}
