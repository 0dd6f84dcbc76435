/// What a recording says of the trades in one frame: the places, among the trades in its text and ascending, of those
/// that the recorded tape treated in another way than a live trade.
package struct FramePlaces: Sendable, Equatable {
    /// Those that are not on the tape.
    package var leftOut: [Int]
    /// Those that are on the tape, and had been missing (``TradeMarks/filled``).
    package var filled: [Int]

    package init(leftOut: [Int] = [], filled: [Int] = []) {
        self.leftOut = leftOut
        self.filled = filled
    }

    package var isEmpty: Bool { self.leftOut.isEmpty && self.filled.isEmpty }
}
