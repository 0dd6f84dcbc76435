import Market
package import NIOCore

/// What a relay tells a client of a room. Times are ns since 1970.
package enum RoomUpdate: Sendable, Equatable {
    /// The first message of a connection: the users, and the newest messages, the oldest first.
    case room(users: [RoomUser], messages: [RoomMessage])
    case message(RoomMessage)
    case joined(RoomUser, time: Int64)
    case left(RoomUser, time: Int64)
    /// The answer to what this client submitted: one line for people, and a stable word.
    case error(String, code: String)

    /// The most users and messages of one list that are read.
    private static let mostElements = 4_096

    /// Reads a message of the connection to a room. Unknown keys are ignored.
    ///
    /// - Returns: `nil` for a type that this program does not know, and for anything else, which readers ignore.
    package init?(_ text: ByteBuffer, of room: String) {
        let update = text.withUnsafeReadableBytes { bytes -> RoomUpdate? in
            guard let fields = StreamFields(bytes) else { return nil }
            switch fields.type {
            case "room": return Self.state(in: bytes, of: room)
            case "message": return fields.message(of: room).map { .message($0) }
            case "joined": return fields.presence.map { .joined($0.user, time: $0.time) }
            case "left": return fields.presence.map { .left($0.user, time: $0.time) }
            case "error": return .error(fields.text("msg") ?? "", code: fields.text("code") ?? "")
            default: return nil
            }
        }
        guard let update else { return nil }
        self = update
    }

    private static func state(in bytes: UnsafeRawBufferPointer, of room: String) -> RoomUpdate? {
        var users: [RoomUser] = []
        var messages: [RoomMessage] = []
        let isWhole = JSONReader.wholeObject(bytes) { key, reader in
            guard key.equals("users") || key.equals("messages") else { return reader.skipValue() }
            guard let list = reader.rawValue() else { return false }
            if key.equals("users") {
                users = Self.elements(of: list) { $0.user }
            } else {
                messages = Self.elements(of: list) { $0.message(of: room) }
            }
            return true
        }
        return isWhole ? .room(users: users, messages: messages) : nil
    }

    /// Reads a list of flat objects; those that `make` cannot use are skipped.
    private static func elements<Value>(
        of list: UnsafeRawBufferPointer,
        _ make: (StreamFields) -> Value?
    ) -> [Value] {
        var reader = JSONReader(list)
        guard reader.take(UInt8(ascii: "[")), !reader.take(UInt8(ascii: "]")) else { return [] }
        var values: [Value] = []
        repeat {
            guard values.count < Self.mostElements, let element = reader.rawValue() else { break }
            if let value = StreamFields(element, isNested: true).flatMap(make) { values.append(value) }
        } while reader.take(UInt8(ascii: ","))
        return values
    }
}

extension StreamFields {
    fileprivate var user: RoomUser? {
        guard let name = self.text("user"), let id = self.count("userId") else { return nil }
        return RoomUser(name: name, id: id)
    }

    fileprivate var presence: (user: RoomUser, time: Int64)? {
        guard let user, let time = self.moment("time", unit: 1_000_000) else { return nil }
        return (user, time)
    }

    fileprivate func message(of room: String) -> RoomMessage? {
        guard let presence, let id = self.count("id"), let text = self.text("message") else { return nil }
        let user = presence.user
        return RoomMessage(room: room, id: id, time: presence.time, user: user.name, userID: user.id, text: text)
    }
}
