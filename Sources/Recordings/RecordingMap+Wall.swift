import Wire

/// What of a file was written before a moment of the wall clock, as far as that is known without reading it.
package struct EarlierText: Sendable, Equatable {
    /// Nothing before this place was written at the moment or later, in bytes of the text.
    package var offset: Int64 = 0
    /// The number of the first line there, and the latest wall clock before it, µs since 1970; `nil` where not known.
    package var number: UInt64?
    package var latest: Int64?
    /// Whether it is all of the file.
    package var isAll = false
}

/// Where lines of a wall clock may be.
///
/// A wall clock may be set back anywhere, so that nothing can be halved by it. The index has the earliest and the latest of
/// each block, and marks say what grows however it is set; a file without either has to be read.
extension RecordingMap {
    /// What was written before a moment, µs since 1970, from the file's start on.
    package func earlier(than wall: Int64) throws(RecordingFailure) -> EarlierText {
        guard let index else { return try self.markedEarlier(than: wall) }
        guard index.isNumberedThrough, let last = index.blocks.last else { return EarlierText() }
        let place = index.blocks.firstIndex { ($0.wall?.upperBound ?? .max) >= wall }
        let latest = index.blocks[..<(place ?? index.blocks.count)].compactMap { $0.wall?.upperBound }.max()
        guard let place else {
            // Behind the header, which has no number, each line has the next.
            let lines = UInt64(last.lines - (index.blocks.count == 1 ? 1 : 0))
            return EarlierText(offset: last.end, number: last.number.map { $0 &+ lines }, latest: latest, isAll: true)
        }
        guard place > 0 else { return EarlierText() }
        return EarlierText(offset: index.blocks[place].offset, number: index.blocks[place].number, latest: latest)
    }

    /// Behind which place nothing was written before a moment (µs since 1970), in bytes of the text; 0 where nothing at all
    /// was.
    package func end(before wall: Int64) throws(RecordingFailure) -> Int64 {
        guard let index else { return try self.markedEnd(before: wall) }
        guard index.isNumberedThrough else { return .max }
        return index.blocks.last { ($0.wall?.lowerBound ?? .min) <= wall }?.end ?? 0
    }
}

extension RecordingIndex {
    /// Whether the lines of each block are numbered on from those of the one before it. They are not where files were joined,
    /// whose second header is in force from then on, nor where lines are missing.
    var isNumberedThrough: Bool {
        var next: UInt64?
        for (place, block) in self.blocks.enumerated() {
            let lines = place == 0 ? block.lines - 1 : block.lines
            guard let number = block.number, block.wall != nil, lines > 0, next ?? number == number else {
                return false
            }
            next = number &+ UInt64(lines)
        }
        return next != nil
    }
}
