/// The rate limit of sent bytes: a second's worth at once, and beyond that `rate` on average.
///
/// A chunk of any size may be sent as soon as the bytes before it have been earned, after ``longestWait`` at the
/// latest. So one second's traffic is at most the saved and the newly earned bytes, each a second's worth, and one
/// chunk. Under constant load nothing is saved, and it is the rate and one chunk. A pure state machine: times are
/// monotonic ns.
struct ByteBudget: Sendable {
    /// The longest time that a chunk waits because of those before it, ns.
    static let longestWait: Int64 = 1_000_000_000

    /// Bytes a second.
    let rate: Int64
    /// When all sent bytes have been earned. Earnings from more than a second ago are not saved.
    private var paidAt: Int64?

    /// - Parameter rate: bytes a second, 1 or more.
    init(rate: Int) { self.rate = Int64(max(rate, 1)) }

    /// Returns the earliest time for the next chunk.
    func due(now: Int64) -> Int64 { self.paidAt.map { max($0, now) } ?? now }

    /// Records that bytes are sent at `now`.
    mutating func sent(_ bytes: Int, now: Int64) {
        let saved = now - 1_000_000_000
        let price = Int64(min(bytes, 1 << 30)) * 1_000_000_000 / self.rate
        let paid = max(self.paidAt ?? saved, saved) + price
        self.paidAt = min(paid, now + Self.longestWait)
    }
}
