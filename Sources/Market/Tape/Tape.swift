/// The numbering of all trades of one run: `(epoch, sequence)` identifies a trade for ever.
///
/// It has one writer and owner, the feed's event loop. It holds no trades and drops none. A ``Gap`` marks where trades
/// may be missing.
public struct Tape: Sendable {
    /// The identifier of the run of numbers. A new run begins when the program starts, and when a feed has used up its
    /// symbols' numbers.
    public let epoch: UInt64
    /// The number of the next trade. The first trade of an epoch has number 1, so that 0 can mean "none yet".
    public private(set) var nextSequence: UInt64

    /// - Parameter next: the number of the next trade: 1, or more where another program has numbered the ones before.
    public init(epoch: UInt64, next: UInt64 = 1) {
        self.epoch = epoch
        self.nextSequence = next
    }

    /// Numbers the next `count` trades without holes, and returns the number of the first.
    public mutating func append(count: Int) -> UInt64 {
        precondition(count >= 0, "a batch of \(count) trades")
        let first = self.nextSequence
        self.nextSequence += UInt64(count)
        return first
    }
}
