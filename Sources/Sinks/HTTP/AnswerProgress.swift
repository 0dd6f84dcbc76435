import NIOCore

/// Whether a peer takes an answer, judged by what is left of it; time is an argument.
///
/// A slow peer may take as long as it needs, as long as bytes leave.
struct AnswerProgress: Equatable {
    private let patience: TimeAmount
    /// The bytes that were left when they last became fewer.
    private(set) var left: Int
    private var since: NIODeadline

    /// - Parameter patience: how long nothing may leave.
    init(left: Int, patience: TimeAmount, now: NIODeadline) {
        self.left = left
        self.patience = patience
        self.since = now
    }

    /// Takes what is left now, and answers whether the peer takes nothing any more.
    mutating func isStuck(left: Int, now: NIODeadline) -> Bool {
        guard left >= self.left else {
            self.left = left
            self.since = now
            return false
        }
        return now - self.since >= self.patience
    }
}
