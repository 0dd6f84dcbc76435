import NIOCore

/// The time behind a connection's last answer, in which its peer may take that, send the rest of what it is sending, and close;
/// time and bytes are arguments.
///
/// To close a socket with input unread resets the connection, and the reset can overtake the answer. So what still comes is
/// read and thrown away. All of it has an end: the answer's way out (``AnswerProgress``), and then these limits.
struct Lingering: Equatable {
    /// How long a peer may send nothing, once it has its answer.
    static let quiet: TimeAmount = .seconds(1)
    /// How long a peer may go on sending, once it has its answer.
    static let longest: TimeAmount = .seconds(5)
    /// How much of it is thrown away at most, in bytes: what a peer can have sent before it could know of the answer, for the
    /// kernels on both sides hold that much.
    static let mostBytes = 4 << 20

    private var answer: AnswerProgress
    /// The bytes that had been thrown away at the last look.
    private var dropped = 0
    /// When it is over at the latest; nil while the answer is on its way.
    private var end: NIODeadline?

    init(_ answer: AnswerProgress) { self.answer = answer }

    /// Takes what is left of the answer and what has been thrown away, and returns whether it is over; to be asked every
    /// ``quiet``.
    mutating func isOver(left: Int, dropped: Int, now: NIODeadline) -> Bool {
        let isSending = dropped > self.dropped
        self.dropped = dropped
        if self.end == nil, left > 0 || self.answer.left > 0 { return self.answer.isStuck(left: left, now: now) }
        let end = self.end ?? now - Self.quiet + Self.longest
        self.end = end
        return !isSending || now >= end
    }
}
