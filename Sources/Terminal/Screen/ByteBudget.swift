/// How many bytes may be sent: a second's worth at once, and beyond that so many a second on average.
///
/// Something may be sent, however large it is, as soon as what was sent before has been earned; but nobody waits for longer
/// than ``longestWait``. So in any second no more is sent than what was saved and what is earned meanwhile, each a second's
/// worth, and one piece; while more is wanted than is earned, nothing is saved, and it is the rate and one piece. A pure
/// machine: times are monotonic ns.
struct ByteBudget: Sendable {
    /// The longest that a piece waits because of those before it, ns.
    static let longestWait: Int64 = 1_000_000_000

    /// Bytes a second.
    let rate: Int64
    /// When all that was sent has been earned; before ``longestWait`` ago there is nothing to be saved.
    private var paidAt: Int64?

    /// - Parameter rate: bytes a second, 1 or more.
    init(rate: Int) { self.rate = Int64(max(rate, 1)) }

    /// The earliest time for the next piece.
    func due(now: Int64) -> Int64 { self.paidAt.map { max($0, now) } ?? now }

    /// Notes that so many bytes are sent at `now`.
    mutating func sent(_ bytes: Int, now: Int64) {
        let saved = now - 1_000_000_000
        let price = Int64(min(bytes, 1 << 30)) * 1_000_000_000 / self.rate
        let paid = max(self.paidAt ?? saved, saved) + price
        self.paidAt = min(paid, now + Self.longestWait)
    }
}
