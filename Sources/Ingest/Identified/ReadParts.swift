import Wire

/// The parts in which a read goes onto the tape: a gap precedes the frame that shows it. A frame itself is not divided:
/// it is one message and one line of a recording.
struct ReadParts: Sequence, IteratorProtocol {
    struct Part {
        /// The gaps before the part.
        var gaps: ArraySlice<FoundGap>
        /// Its frames, by their indices within the read.
        var frames: Range<Int>
    }

    private let content: PendingRead.Content
    private var gaps: ArraySlice<FoundGap>
    private var start = 0

    init(_ content: PendingRead.Content, gaps: [FoundGap]) {
        self.content = content
        self.gaps = gaps[...]
    }

    mutating func next() -> Part? {
        let frames = self.content.frames
        guard self.start < frames.count else { return nil }
        // A gap whose frame has no trades before it in this part needs no part of its own.
        let first = frames[self.start].trades.lowerBound
        let own = self.gaps.prefix { frames[$0.frame].trades.lowerBound <= first }
        self.gaps = self.gaps.dropFirst(own.count)
        let end = self.gaps.first?.frame ?? frames.count
        defer { self.start = end }
        return Part(gaps: own, frames: self.start..<end)
    }
}
