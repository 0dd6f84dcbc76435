/// The count of all messages to clients. One count serves all of them, so that a message to many is the same bytes.
final class MessageNumbers {
    private var last: UInt64 = 0

    /// Returns the number of the next message.
    func next() -> UInt64 {
        self.last += 1
        return self.last
    }
}
