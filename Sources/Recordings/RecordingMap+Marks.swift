import Wire

/// A mark that states the wall clocks of the lines before it (docs/recording-format.md).
struct WallClockMark: Equatable {
    /// The offsets of its line and behind its line, in bytes of the text.
    var offset: Int64
    var end: Int64
    var number: UInt64
    /// The wall clocks of the lines before it, including the header.
    var wallClocks: WallClockMarks
}

extension RecordedLine {
    /// The note of a mark whose stated offset is its real one. In a file made by joining files or leaving lines out,
    /// marks are meaningless.
    var mark: RecordedNote? {
        guard case .note(let note) = self.content, note.kind == .mark, note.offset == self.offset else { return nil }
        return note
    }

    /// The mark in this line, if it states wall clocks; those of earlier versions do not.
    var wallMark: WallClockMark? {
        guard let wallClocks = self.mark?.wallClocks, let number = self.number else { return nil }
        return WallClockMark(
            offset: self.offset,
            end: self.offset + Int64(self.length) + 1,
            number: number,
            wallClocks: wallClocks
        )
    }
}

/// The search by wall clock in an uncompressed file, by its marks.
extension RecordingMap {
    /// How far from an offset its mark is searched, bytes: two intervals, since a line may be long.
    static let markWindow = Int64(2 * GapMarkers.interval)

    /// Returns the text that is earlier than `wall` (µs since 1970), by the last mark behind which all lines are.
    func markedEarlier(than wall: Int64) throws(RecordingFailure) -> EarlierText {
        guard let length = try self.markedLength(),
            let halved = try self.halve(length, { $0.wallClocks.latest >= wall }, isUnmarkedFit: true)
        else { return EarlierText() }
        // The text before the mark shows whether the mark is right.
        let from = max(0, (halved.last?.offset ?? 0) - Self.markWindow)
        var search = EarlierSearch(wall: wall, wallClocks: self.headerWallClocks)
        let isToEnd = halved.high == length
        try self.scan(from: from, to: isToEnd ? .max : halved.high, isLineStart: from == 0, leavesTextOut: true) {
            search.take($0)
        }
        return search.text(isToEnd: isToEnd)
    }

    /// Returns the offset behind which no line is earlier than `wall` (µs since 1970), by the first mark behind which
    /// no clock was set back that far.
    func markedEnd(before wall: Int64) throws(RecordingFailure) -> Int64 {
        guard let length = try self.markedLength(), let last = try self.lastWallMark(length) else { return .max }
        // Behind the last mark any wall clock is possible.
        guard let tail = try self.end(before: wall, from: last.offset, to: .max, isLineStart: true) else { return .max }
        guard tail == last.offset else { return tail }
        let back = last.wallClocks.back
        guard
            let halved = try self.halve(
                last.end,
                { $0.wallClocks.earliestBehind(back: back) > wall },
                isUnmarkedFit: false
            ), halved.first.map({ last.wallClocks.mayFollow($0.wallClocks) }) ?? true
        else { return .max }
        let end = min(halved.first?.offset ?? last.offset, last.offset)
        guard let found = try self.end(before: wall, from: halved.low, to: end, isLineStart: halved.isLineStart),
            // The text behind the mark shows whether the mark is right.
            try self.end(before: wall, from: end, to: end + Self.markWindow, isLineStart: true) == end
        else { return .max }
        return found
    }

    /// The header's wall clock.
    private var headerWallClocks: WallClockMarks {
        var wallClocks = WallClockMarks()
        if let start = self.header?.start { wallClocks.take(RecordingSyntax.microseconds(start)) }
        return wallClocks
    }

    /// The text's length; `nil` where the beginning of the file shows no such marks.
    private func markedLength() throws(RecordingFailure) -> Int64? {
        guard let length, !self.isPacked, self.header != nil else { return nil }
        return try self.firstWallMark(from: 0, to: 2 * Self.markWindow, isLineStart: true) == nil ? nil : length
    }

    private func firstWallMark(
        from: Int64,
        to end: Int64,
        isLineStart: Bool
    ) throws(RecordingFailure) -> WallClockMark? {
        var found: WallClockMark?
        try self.scan(from: from, to: end, isLineStart: isLineStart, leavesTextOut: true) { line in
            found = line.wallMark
            return found == nil
        }
        return found
    }

    private func lastWallMark(_ length: Int64) throws(RecordingFailure) -> WallClockMark? {
        let from = max(0, length - Self.markWindow)
        var found: WallClockMark?
        try self.scan(from: from, isLineStart: from == 0, leavesTextOut: true) { line in
            found = line.wallMark ?? found
            return true
        }
        return found
    }

    /// The result of a binary search: the marks around the first that fits, and the stretch between them.
    private struct Halved {
        var last: WallClockMark?
        var first: WallClockMark?
        var low: Int64 = 0
        var high: Int64
        /// Whether a line begins at `low`.
        var isLineStart = true
    }

    /// Searches for the first mark that fits; `nil` where marks contradict each other.
    ///
    /// - Parameter isUnmarkedFit: whether a stretch without a mark counts as one that fits.
    private func halve(
        _ length: Int64,
        _ fits: (WallClockMark) -> Bool,
        isUnmarkedFit: Bool
    ) throws(RecordingFailure) -> Halved? {
        var halved = Halved(high: length)
        while halved.high - halved.low > Self.markWindow {
            let middle = halved.low + (halved.high - halved.low) / 2
            // In a file with marks, one is within the window; in one without, no more than the window is read for it.
            let end = min(halved.high, middle + Self.markWindow)
            guard let found = try self.firstWallMark(from: middle, to: end, isLineStart: false) else {
                if isUnmarkedFit {
                    halved.high = middle
                } else {
                    halved.low = middle
                    halved.isLineStart = false
                }
                continue
            }
            guard found.wallClocks.mayFollow(halved.last?.wallClocks ?? WallClockMarks()),
                halved.first?.wallClocks.mayFollow(found.wallClocks) ?? true
            else { return nil }
            if fits(found) {
                halved.first = found
                halved.high = middle
            } else {
                halved.last = found
                halved.low = found.end
                halved.isLineStart = true
            }
        }
        return halved
    }

    /// Returns the offset behind the last line of a stretch that is not later than `wall` (µs since 1970), or the
    /// stretch's beginning; `nil` where a line states no wall clock.
    private func end(
        before wall: Int64,
        from: Int64,
        to: Int64,
        isLineStart: Bool
    ) throws(RecordingFailure) -> Int64? {
        var end = from
        var isKnown = true
        try self.scan(from: from, to: to, isLineStart: isLineStart, leavesTextOut: true) { line in
            if let written = line.wall {
                if written <= wall { end = line.offset + Int64(line.length) + 1 }
            } else if line.at != nil {
                isKnown = false
            }
            return isKnown
        }
        return isKnown ? end : nil
    }
}

/// The search for the lines before a wall clock, from mark to mark.
private struct EarlierSearch {
    let wall: Int64
    /// The wall clocks so far, where known.
    private var wallClocks: WallClockMarks
    private var found = EarlierText()
    /// The number of the next line, where all lines since the mark are present and early enough.
    private var next: UInt64?
    private var end: Int64 = 0
    private var isContradicted = false

    init(wall: Int64, wallClocks: WallClockMarks) {
        self.wall = wall
        self.wallClocks = wallClocks
    }

    /// Takes a line; returns whether it needs more.
    mutating func take(_ line: RecordedLine) -> Bool {
        if let mark = line.wallMark {
            self.isContradicted = !mark.wallClocks.mayFollow(self.wallClocks)
            guard !self.isContradicted, mark.wallClocks.latest < self.wall else {
                self.next = nil
                return false
            }
            self.wallClocks = mark.wallClocks
            self.found = EarlierText(offset: mark.offset, number: mark.number, latest: mark.wallClocks.latest)
            self.next = mark.number
        }
        if let wall = line.wall { self.wallClocks.take(wall) }
        guard let next, line.number == next, let wall = line.wall, wall < self.wall else {
            self.next = nil
            return true
        }
        self.next = next &+ 1
        self.end = line.offset + Int64(line.length) + 1
        return true
    }

    /// - Parameter isToEnd: whether the lines reached the file's end.
    func text(isToEnd: Bool) -> EarlierText {
        if self.isContradicted { return EarlierText() }
        guard isToEnd, let next else { return self.found }
        return EarlierText(offset: self.end, number: next, latest: self.wallClocks.latest, isAll: true)
    }
}
