/// What the router asks its owner to do.
enum WAMPAction: Equatable {
    /// Send a message, which must not be missed, to a session.
    case send(WAMPMessage, to: UInt64)
    /// Send an event to those of the sessions that keep up.
    case publish(WAMPMessage, to: [UInt64])
}
