import NIOCore
import Wire

/// What a new member of a room learns: the users, and the newest messages.
struct RoomState: Equatable {
    var name: String
    /// In the order in which they have joined.
    var users: [RoomUser] = []
    /// The oldest first.
    var messages: [RoomMessage] = []

    /// The state as JSON, with the limits for what a client submits.
    var object: ByteBuffer {
        var out = JSONWriter(type: "room")
        out.field("room", self.name)
        out.array("users") { out in
            for user in self.users { out.element { out in out.fields(of: user) } }
        }
        out.array("messages") { out in
            for message in self.messages { out.element { out in out.fields(of: message) } }
        }
        out.object("limits") { out in
            out.field("messageBytes", RoomLimits.messageBytes)
            out.field("userBytes", RoomLimits.userBytes)
            out.field("messageBurst", RoomLimits.burst)
            out.field("messagesPerSecond", RoomLimits.perSecond)
        }
        return out.finish()
    }
}
