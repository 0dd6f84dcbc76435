import NIOCore

/// The time after a connection's last response, in which its peer may read that, send the rest of its input, and close.
/// Time and bytes are arguments.
///
/// Closing a socket with unread input resets the connection, and the reset can overtake the response. So further input
/// is read and discarded. The time has two limits: that of the response (``ReadProgress``), and then these.
package struct Lingering: Equatable {
    /// The longest time without input after the peer has read its response.
    static let quiet: TimeAmount = .seconds(1)
    /// The longest time for further input after the peer has read its response.
    static let longest: TimeAmount = .seconds(5)
    /// The limit of discarded input in bytes: the kernels on both sides can hold that much before the peer can know of
    /// the response.
    package static let maximumBytes = 4 << 20

    private var answer: ReadProgress
    /// The number of discarded bytes at the last check.
    private var dropped = 0
    /// When the lingering ends at the latest; `nil` while the response is being read.
    private var end: NIODeadline?

    init(_ answer: ReadProgress) { self.answer = answer }

    /// Takes the unread bytes of the response and the discarded bytes, and returns whether the lingering is over. Must
    /// be called every ``quiet``.
    mutating func isOver(left: Int, dropped: Int, now: NIODeadline) -> Bool {
        let isSending = dropped > self.dropped
        self.dropped = dropped
        if self.end == nil, left > 0 || self.answer.left > 0 { return self.answer.isStuck(left: left, now: now) }
        let end = self.end ?? now - Self.quiet + Self.longest
        self.end = end
        return !isSending || now >= end
    }
}
