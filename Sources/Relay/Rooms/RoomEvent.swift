import NIOCore
import Wire

/// An event that all members of a room get, in the same order. Times are ns since 1970.
enum RoomEvent: Equatable {
    case message(RoomMessage)
    case joined(RoomUser, time: Int64)
    case left(RoomUser, time: Int64)

    /// The event as JSON.
    var object: ByteBuffer {
        switch self {
        case .message(let message):
            var out = JSONWriter(type: "message")
            out.fields(of: message)
            return out.finish()
        case .joined(let user, let time): return Self.presence("joined", user, time)
        case .left(let user, let time): return Self.presence("left", user, time)
        }
    }

    private static func presence(_ type: StaticString, _ user: RoomUser, _ time: Int64) -> ByteBuffer {
        var out = JSONWriter(type: type)
        out.field("time", time / 1_000_000)
        out.fields(of: user)
        return out.finish()
    }
}

extension JSONWriter {
    /// Writes the members of a message of a room.
    mutating func fields(of message: RoomMessage) {
        self.field("id", message.id)
        self.field("time", message.time / 1_000_000)
        self.fields(of: RoomUser(name: message.user, id: message.userID))
        self.field("message", message.text)
    }

    /// Writes the members of a user of a room.
    mutating func fields(of user: RoomUser) {
        self.field("user", user.name)
        self.field("userId", user.id)
    }
}
