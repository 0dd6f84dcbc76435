package import NIOCore

/// What a client submits to a room.
package enum RoomRequest: Sendable, Equatable {
    /// Takes a name in the room.
    case name(String)
    /// Sends a message in the name that was taken.
    case message(String)

    /// The request as text.
    package func encoded() -> ByteBuffer {
        JSONWriter.object { out in
            switch self {
            case .name(let name): out.field("user", name)
            case .message(let text): out.field("message", text)
            }
        }
    }
}
