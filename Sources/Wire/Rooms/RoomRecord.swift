/// A change of what is kept of rooms over a restart.
package enum RoomRecord: Sendable, Equatable {
    case message(RoomMessage)
    /// The room of this name was given up with its messages.
    case givenUp(String)

    package var isMessage: Bool { if case .message = self { true } else { false } }
}
