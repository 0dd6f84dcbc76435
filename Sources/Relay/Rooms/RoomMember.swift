/// A session that can be in rooms.
protocol RoomMember: RelayProtocol {
    /// The rate of its messages in all its rooms.
    var roomRate: RequestAllowance { get set }

    /// Sends an event of a room that the session was in when it happened, its own ones included.
    func roomChanged(_ event: RoomEvent, in room: String, _ message: SharedMessage)
}
