/// The numbering of all trades of one run: `(epoch, sequence)` names a trade for ever.
///
/// One writer owns it, the feed's event loop. It holds no trades; nothing is dropped on it, and what may be missing is
/// marked by a ``Gap``.
public struct Tape: Sendable {
    /// Names the run of numbers; a new one begins when the program starts, and when a feed has used up its symbols' numbers.
    public let epoch: UInt64
    /// The number that the next trade gets. The first trade of an epoch is number 1, so that 0 can mean "none yet".
    public private(set) var nextSequence: UInt64 = 1

    public init(epoch: UInt64) { self.epoch = epoch }

    /// Numbers the next `count` trades and returns the number of the first; the others follow without a hole.
    public mutating func append(count: Int) -> UInt64 {
        precondition(count >= 0, "a batch of \(count) trades")
        let first = self.nextSequence
        self.nextSequence += UInt64(count)
        return first
    }
}
