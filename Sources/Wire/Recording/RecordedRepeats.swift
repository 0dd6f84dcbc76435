package import Market

/// The rule for possible repeats in a recording, shared by exports and replays.
///
/// Where a frame's trades have numbers, the recorded tape marks each (`possibleRepeats`), and has left out some
/// (`leftOut`). Without numbers, a frame that equals one of the last two seconds byte for byte is a possible repeat, by
/// the tape's own rule. Whole frames are compared, before they are cut to fewer symbols.
package struct RecordedRepeats: Sendable {
    private var frames = RepeatedFrames()

    package init() {}

    /// Forgets the frames so far, where the next one does not follow them: at another file, or another place.
    package mutating func reset() { self.frames.reset() }

    /// Marks the possible repeats among all trades of a frame's text.
    ///
    /// - Returns: the numbers of the trades; `nil` where they have none, or the numbers do not match the text.
    package mutating func mark(_ trades: inout [Trade], of frame: RecordedFrame) -> RecordedNumbers? {
        let isRepeat = self.frames.isRepeat(frame.frame, now: frame.at)
        if let numbers = frame.numbers, numbers.apply(toAll: &trades) { return numbers }
        if isRepeat { for place in trades.indices { trades[place].marks.insert(.possibleRepeat) } }
        return nil
    }
}
