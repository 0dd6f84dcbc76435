/// The place of a frame in a cluster, and what the tape had reached with it.
package struct ClusterPosition: Sendable, Equatable {
    /// The highest epoch. Every reader of JSON holds it exactly (RFC 8259, 6).
    package static let maximumEpoch: UInt64 = 1 << 53 - 1

    /// The run of numbers. A later ingest has a higher one.
    package var epoch: UInt64
    /// The frame's number in its epoch, from 1; they have no hole. 0 before the first frame.
    package var frame: UInt64
    /// The number of the tape's newest trade after the frame; 0 before the first trade.
    package var sequence: UInt64

    package init(epoch: UInt64, frame: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.frame = frame
        self.sequence = sequence
    }

    /// The position of the newest trade.
    package var tape: TapePosition { TapePosition(epoch: self.epoch, sequence: self.sequence) }
}
