/// The refusal of frames of an earlier holder, at an edge.
package struct EpochGate: Sendable, Equatable {
    package enum Verdict: Sendable, Equatable {
        /// The frame is of the epoch that the edge already has.
        case current
        /// A new holder publishes; what the edge has of the earlier one is stale.
        case newer
        /// The frame must be dropped.
        case older
    }

    /// The highest epoch so far; `nil` before the first frame.
    package private(set) var highest: UInt64?

    package init() {}

    /// Judges a frame, and remembers its epoch if it is newer.
    package mutating func judge(_ epoch: UInt64) -> Verdict {
        guard let highest else {
            self.highest = epoch
            return .newer
        }
        if epoch > highest { self.highest = epoch }
        return epoch == highest ? .current : epoch > highest ? .newer : .older
    }
}
