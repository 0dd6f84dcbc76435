import Wire

/// The part of a file that is earlier than a wall clock, as far as known without reading the file.
package struct EarlierText: Sendable, Equatable {
    /// Every line before this offset is earlier, in bytes of the text.
    package var offset: Int64 = 0
    /// The number of the first line there, and the latest wall clock before it, µs since 1970; `nil` where unknown.
    package var number: UInt64?
    package var latest: Int64?
    /// Whether the part is the whole file.
    package var isAll = false
}

/// The search by wall clock.
///
/// A wall clock may be set back anywhere, which rules out a binary search by it. The index has the earliest and the
/// latest of each block, and marks state values that only grow. A file without either has to be read.
extension RecordingMap {
    /// Returns the part from the file's start that is earlier than `wall`, µs since 1970.
    package func earlier(than wall: Int64) throws(RecordingFailure) -> EarlierText {
        guard let index else { return try self.markedEarlier(than: wall) }
        guard index.isNumberedThrough, let last = index.blocks.last else { return EarlierText() }
        let place = index.blocks.firstIndex { ($0.wall?.upperBound ?? .max) >= wall }
        let latest = index.blocks[..<(place ?? index.blocks.count)].compactMap { $0.wall?.upperBound }.max()
        guard let place else {
            // Each line behind the header has the next number; the header has none.
            let lines = UInt64(last.lines - (index.blocks.count == 1 ? 1 : 0))
            return EarlierText(offset: last.end, number: last.number.map { $0 &+ lines }, latest: latest, isAll: true)
        }
        guard place > 0 else { return EarlierText() }
        return EarlierText(offset: index.blocks[place].offset, number: index.blocks[place].number, latest: latest)
    }

    /// Returns the offset behind which no line is earlier than `wall` (µs since 1970), in bytes of the text; 0 where no
    /// line of the file is.
    package func end(before wall: Int64) throws(RecordingFailure) -> Int64 {
        guard let index else { return try self.markedEnd(before: wall) }
        guard index.isNumberedThrough else { return .max }
        return index.blocks.last { ($0.wall?.lowerBound ?? .min) <= wall }?.end ?? 0
    }
}

extension RecordingIndex {
    /// Whether each block's lines continue the numbers of the block before. They do not in joined files, whose second
    /// header is in force from there on, nor where lines are missing.
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
