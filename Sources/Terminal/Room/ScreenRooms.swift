package import Wire

/// The rooms of a relay, of which the screen has one open at a time.
///
/// The methods may be called on any thread, and never wait.
package protocol ScreenRooms: Sendable {
    /// Enters a room, and leaves the one before.
    ///
    /// - Parameter changed: takes the room as it is now, and again after each change until it is left.
    func enter(_ name: String, changed: @escaping @Sendable (DisplayRoom) -> Void)
    /// Submits to the open room. ``DisplayRoom/outcome`` reports the outcome.
    ///
    /// - Parameter number: the number of the submission, which grows.
    func submit(_ request: RoomRequest, number: Int)
    /// Leaves the open room.
    func leave()
}
