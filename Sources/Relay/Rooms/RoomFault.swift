/// The reason why a room does not take what a client submits.
struct RoomFault: Error, Equatable {
    enum Kind: String {
        case badMessage = "bad-message"
        case badRoom = "bad-room"
        case badUser = "bad-user"
        case invalidMessage = "invalid-message"
        case noUser = "no-user"
        case rateLimited = "rate-limited"
        case roomFull = "room-full"
        case sameUser = "same-user"
        case tooFast = "too-fast"
        case tooLong = "too-long"
        case tooManyRooms = "too-many-rooms"
        case userTaken = "user-taken"
    }

    /// A stable word for programs.
    let kind: Kind
    /// One line for people.
    let words: String

    static let invalidMessage = RoomFault(
        kind: .invalidMessage,
        words: #"Invalid message; send {"message":"…","user":"…"}"#
    )
    static let rateLimited = RoomFault(kind: .rateLimited, words: "Too many requests; slow down")
    static let noUser = RoomFault(kind: .noUser, words: "a message needs a user; take a name first")
    static let roomFull = RoomFault(kind: .roomFull, words: "the room has \(RoomLimits.members) members already")
    static let tooManyRooms = RoomFault(kind: .tooManyRooms, words: "there are too many rooms")
    static let tooFast = RoomFault(
        kind: .tooFast,
        words: "too fast: \(RoomLimits.burst) messages at once, then \(RoomLimits.perSecond) a second"
    )
    static let roomTooFast = RoomFault(
        kind: .tooFast,
        words: "the room takes \(RoomLimits.roomBurst) messages at once, then \(RoomLimits.roomPerSecond) a second"
    )
    static let longMessage = RoomFault(
        kind: .tooLong,
        words: "a message has at most \(RoomLimits.messageBytes) bytes"
    )
    static let longUser = RoomFault(kind: .tooLong, words: "a user's name has at most \(RoomLimits.userBytes) bytes")

    /// - Parameter fault: the end of the sentence.
    static func badMessage(_ fault: String) -> RoomFault { RoomFault(kind: .badMessage, words: "a message \(fault)") }

    /// - Parameter fault: the end of the sentence.
    static func badUser(_ fault: String) -> RoomFault { RoomFault(kind: .badUser, words: "a user's name \(fault)") }

    /// - Parameter fault: the end of the sentence.
    static func badRoom(_ fault: String) -> RoomFault { RoomFault(kind: .badRoom, words: "a room's name \(fault)") }

    /// - Parameter name: the name that the client has.
    static func sameUser(_ name: String) -> RoomFault {
        RoomFault(kind: .sameUser, words: "you have the name \(name) already")
    }

    /// - Parameter name: a name that may be a user's.
    static func userTaken(_ name: String) -> RoomFault {
        RoomFault(kind: .userTaken, words: "another user of the room has the name \(name)")
    }
}
