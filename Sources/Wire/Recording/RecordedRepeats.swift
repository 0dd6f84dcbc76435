package import Market

/// Which trades of a recording may have come before: the one rule for exports and replays.
///
/// Where a frame's trades have numbers, the tape that was recorded says it of each (`possibleRepeats`), and has left out some
/// (`leftOut`). Where they have none, a frame that came before byte for byte within two seconds is suspected, as by the tape.
/// It is judged by whole frames, before anybody cuts them to fewer symbols.
package struct RecordedRepeats: Sendable {
    private var frames = RepeatedFrames()

    package init() {}

    /// Notes that what comes next does not follow what came last: another file, or another place.
    package mutating func reset() { self.frames.reset() }

    /// Marks among all trades that a frame's text holds those that may have come before.
    ///
    /// - Returns: the numbers of the trades; `nil` where they have none, or the numbers are not those of this text.
    package mutating func mark(_ trades: inout [Trade], of frame: RecordedFrame) -> RecordedNumbers? {
        let isRepeat = self.frames.isRepeat(frame.frame, now: frame.at)
        if let numbers = frame.numbers, numbers.apply(toAll: &trades) { return numbers }
        if isRepeat { for place in trades.indices { trades[place].marks.insert(.possibleRepeat) } }
        return nil
    }
}
